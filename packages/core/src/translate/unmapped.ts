import type { Coding } from 'fhir/r4.js'
import { OperationError, quoted } from '../errors/index.js'
import { stringAt, type JsonObject } from '../json/index.js'
import type { MapIndex } from './map-index.js'

/** What a group does with a code of its source system that it does not map. `concept` overrides the code that was asked for. */
export type UnmappedRule =
  | { readonly mode: 'provided' | 'fixed'; readonly concept: Coding }
  | { readonly mode: 'other-map'; readonly url: string }

/**
 * Reads `ConceptMap.group.unmapped`.
 *
 * @throws {OperationError} `definition-invalid` for an unknown mode, a fixed mode without code and another map without url.
 * @see https://hl7.org/fhir/R4/conceptmap-definitions.html#ConceptMap.group.unmapped
 */
export function unmappedRule(unmapped: JsonObject, map: MapIndex): UnmappedRule {
  const mode = stringAt(unmapped, 'mode')
  const code = stringAt(unmapped, 'code')
  const url = stringAt(unmapped, 'url')
  if (mode === 'provided') return { mode, concept: {} }
  if (mode === 'fixed' && code !== undefined) return { mode, concept: fixedConcept(code, stringAt(unmapped, 'display')) }
  if (mode === 'other-map' && url !== undefined) return { mode, url }
  throw new OperationError('definition-invalid', `ConceptMap ${quoted(map.canonical ?? '')} has an 'unmapped' that cannot be followed.`, {
    expression: ['ConceptMap.group.unmapped'],
  })
}

function fixedConcept(code: string, display: string | undefined): Coding {
  return { code, ...(display !== undefined && { display }) }
}
