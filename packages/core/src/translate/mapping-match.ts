import type { Coding } from 'fhir/r4.js'
import { objectsAt, stringAt, type JsonObject } from '../json/index.js'
import type { Direction, MapIndex, Mapping } from './map-index.js'
import type { SourceCode } from './source-codes.js'
import type { TranslateMatch, TranslateProduct } from './translation.js'

/** A mapping and the direction in which it was found. */
export interface FoundMapping {
  readonly mapping: Mapping
  readonly direction: Direction
  readonly reverse: boolean
}

/** The match that a mapping of the map means for a code: its target, or its element when the translation goes in reverse. */
export function mappingMatch(map: MapIndex, from: SourceCode, { mapping, direction, reverse }: FoundMapping): TranslateMatch {
  const equivalence = stringAt(mapping.target, 'equivalence')
  const concept = codingOf(reverse ? mapping.element : mapping.target, direction)
  return {
    ...(equivalence !== undefined && { equivalence }),
    ...(concept !== undefined && { concept }),
    from,
    products: reverse ? [] : objectsAt(mapping.target, 'product').flatMap(productOf),
    ...(map.canonical !== undefined && { map: map.canonical }),
  }
}

function codingOf(concept: JsonObject, { to, toVersion }: Direction): Coding | undefined {
  const code = stringAt(concept, 'code')
  const display = stringAt(concept, 'display')
  if (code === undefined) return undefined
  return {
    ...(to !== undefined && { system: to }),
    ...(toVersion !== undefined && { version: toVersion }),
    code,
    ...(display !== undefined && { display }),
  }
}

function productOf(product: JsonObject): readonly TranslateProduct[] {
  const element = stringAt(product, 'property')
  const code = stringAt(product, 'value')
  const system = stringAt(product, 'system')
  const display = stringAt(product, 'display')
  if (element === undefined || code === undefined) return []
  return [{ element, concept: { ...(system !== undefined && { system }), code, ...(display !== undefined && { display }) } }]
}
