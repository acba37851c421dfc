import type { Coding } from 'fhir/r4.js'
import { OperationError } from '../errors/index.js'
import { objectsAt, stringAt, type JsonObject } from '../json/index.js'
import { shownMap, type Direction, type MapIndex, type Mapping } from './map-index.js'
import type { TranslateMatch, TranslateProduct } from './result.js'
import type { TranslateDependency, SourceCode } from './input.js'

/** A mapping and the direction in which it was found. */
interface FoundMapping {
  readonly mapping: Mapping
  readonly direction: Direction
  readonly reverse: boolean
}

/** Creates the match of a mapping for a code: its target or, in reverse, its element. */
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

function codingOf(concept: JsonObject, { to, toVersion }: Partial<Direction>): Coding | undefined {
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
  const concept = codingOf({ ...product, code: product['value'] }, { to: stringAt(product, 'system') })
  return element === undefined || concept === undefined ? [] : [{ element, concept }]
}

/** Values of other elements, each encoded as a text, so that a condition takes one lookup. */
export type Facts = ReadonlySet<string>

/** Encodes dependencies: every coding with and without its system, and the text. */
export function factsOf(dependencies: readonly TranslateDependency[]): Facts {
  return new Set(
    dependencies.flatMap(({ element, concept }) => [
      ...(concept.text === undefined ? [] : [fact(element, undefined, concept.text)]),
      ...(concept.coding ?? []).flatMap(({ system, code }) =>
        code === undefined ? [] : [fact(element, system, code), fact(element, undefined, code)],
      ),
    ]),
  )
}

/** True if every `dependsOn` of the target is among the facts. */
export function dependenciesMet(target: JsonObject, facts: Facts): boolean {
  return objectsAt(target, 'dependsOn').every((condition) =>
    facts.has(fact(stringAt(condition, 'property'), stringAt(condition, 'system'), stringAt(condition, 'value'))),
  )
}

/** No dependency lacks element or value, so a condition that does is never met. */
function fact(element: string | undefined, system: string | undefined, value: string | undefined): string {
  return JSON.stringify([element, system, value])
}

/** How a group handles a code of its source system that it does not map. `target` may lack a code: that of the code to translate. */
export type UnmappedRule =
  | { readonly mode: 'provided' | 'fixed'; readonly target: { readonly code?: string; readonly display?: unknown } }
  | { readonly mode: 'other-map'; readonly url: string }

/**
 * Reads `ConceptMap.group.unmapped`.
 *
 * @throws {OperationError} `definition-invalid` for an unknown mode, for `fixed` without a code and for `other-map` without a url.
 * @see https://hl7.org/fhir/R4/conceptmap-definitions.html#ConceptMap.group.unmapped
 */
export function unmappedRule(unmapped: JsonObject, map: MapIndex): UnmappedRule {
  const mode = stringAt(unmapped, 'mode')
  const code = stringAt(unmapped, 'code')
  const url = stringAt(unmapped, 'url')
  if (mode === 'provided') return { mode, target: {} }
  if (mode === 'fixed' && code !== undefined) return { mode, target: { code, display: unmapped['display'] } }
  if (mode === 'other-map' && url !== undefined) return { mode, url }
  throw new OperationError('definition-invalid', `${shownMap(map)} has an 'unmapped' that cannot be followed.`, {
    expression: ['ConceptMap.group.unmapped'],
  })
}
