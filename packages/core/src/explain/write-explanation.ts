import type { Extension, ParametersParameter } from 'fhir/r4.js'
import type { Explanation, ExplanationStep, NearestCode } from './explanation.js'

/** Url of the extension that carries an explanation. */
export const EXPLANATION = 'https://fhir-ops.dev/StructureDefinition/explanation'

/**
 * An explanation as a parameter of an answer that is Parameters; none when it is empty.
 *
 * @param more Items after its steps: the criteria of a Measure or of CQL.
 */
export function explanationParameter(explanation: Explanation | undefined, more: readonly Item[] = []): ParametersParameter[] {
  return itemsOf(explanation, more).map((items) => asParameter({ name: 'explanation', items }))
}

/** The same as an extension of any other answer. */
export function explanationExtension(explanation: Explanation | undefined, more: readonly Item[] = []): Extension[] {
  return itemsOf(explanation, more).map((items) => asExtension({ name: EXPLANATION, items }))
}

/** What a parameter with parts and an extension with extensions have in common: a name, and a value or further items. */
export interface Item {
  readonly name: string
  readonly items?: readonly Item[]
  readonly value?: Pick<
    Extension,
    'valueCode' | 'valueCanonical' | 'valueString' | 'valueCoding' | 'valueInteger' | 'valueDecimal' | 'valueReference'
  >
}

function asParameter({ name, items, value }: Item): ParametersParameter {
  return items === undefined ? { name, ...value } : { name, part: items.map(asParameter) }
}

/** An item as an extension whose url is its name. */
export function asExtension({ name, items, value }: Item): Extension {
  return items === undefined ? { url: name, ...value } : { url: name, extension: items.map(asExtension) }
}

/** The items of an explanation that has any; a list without items is not legal. */
function itemsOf(explanation: Explanation | undefined, more: readonly Item[]): readonly (readonly Item[])[] {
  const { steps, omitted, nearest } = explanation ?? NOTHING
  const left = omitted > 0 ? [{ name: 'omitted', value: { valueInteger: omitted } }] : []
  const items = [...steps.map(stepItem), ...left, ...nearest.map(nearestItem), ...more]
  return items.length === 0 ? [] : [items]
}

const NOTHING: Explanation = { steps: [], omitted: 0, nearest: [] }

function stepItem({ kind, outcome, reason, definition, path, coding, count, text }: ExplanationStep): Item {
  return {
    name: 'step',
    items: [
      { name: 'kind', value: { valueCode: kind } },
      { name: 'outcome', value: { valueCode: outcome } },
      ...(reason === undefined ? [] : [{ name: 'reason', value: { valueCode: reason } }]),
      ...(definition === undefined ? [] : [{ name: 'definition', value: { valueCanonical: definition } }]),
      ...(path === undefined ? [] : [{ name: 'path', value: { valueString: path } }]),
      ...(coding === undefined ? [] : [{ name: 'coding', value: { valueCoding: coding } }]),
      ...(count === undefined ? [] : [{ name: 'count', value: { valueInteger: count } }]),
      { name: 'text', value: { valueString: text } },
    ],
  }
}

function nearestItem({ coding, distance, by }: NearestCode): Item {
  return {
    name: 'nearest',
    items: [
      { name: 'coding', value: { valueCoding: coding } },
      { name: 'distance', value: { valueInteger: distance } },
      { name: 'by', value: { valueCode: by } },
    ],
  }
}
