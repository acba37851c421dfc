import type { ComputedSystem } from 'fhir-ops/terminology'
import { languageTags } from './language-tags/language-tags.js'
import { mediaTypes } from './media-types/media-types.js'

/**
 * The code systems of registries whose codes follow rules, for `codeSystems` of a context: language tags and media types. Registries that can be
 * listed are in `registryDefinitions`, units in `unitsOfMeasure` of `@fhir-ops/registries/ucum`. Reads a file of the package; without a file system, use
 * `[languageTags({ bytes }), mediaTypes()]` instead.
 *
 * @throws {TypeError} in a runtime without a file system.
 */
export function registries(): readonly ComputedSystem[] {
  return [languageTags(), mediaTypes()]
}
