import type { ComputedSystem } from 'fhir-ops/terminology'
import { languageTags } from './language-tags/language-tags.js'
import { mediaTypes } from './media-types/media-types.js'

/**
 * The code systems of registries that make their codes by a rule, for `codeSystems` of a context: language tags and media types. Those that can be
 * listed are in `registryDefinitions`, units in `unitsOfMeasure` of `@fhir-ops/registries/ucum`. They read a file of the package; elsewhere `[languageTags({ bytes }), mediaTypes()]` is the same.
 *
 * @throws {TypeError} where there is no file system.
 */
export function registries(): readonly ComputedSystem[] {
  return [languageTags(), mediaTypes()]
}
