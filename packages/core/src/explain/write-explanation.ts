import type { Extension, ParametersParameter } from 'fhir/r4.js'
import type { Explanation, ExplanationStep, NearestCode } from './explanation.js'

/** Url of the extension that carries an explanation. */
export const EXPLANATION = 'https://fhir-ops.dev/StructureDefinition/explanation'

/**
 * Writes an explanation as a parameter of a Parameters resource; an empty list for an empty explanation.
 *
 * @param more Items after the steps: the criteria of a Measure or of CQL.
 */
export function explanationParameter(explanation: Explanation | undefined, more: readonly Item[] = []): ParametersParameter[] {
  return itemsOf(explanation, more).map((items) => asParameter({ name: 'explanation', items }))
}

/** As `explanationParameter`, but as an extension, for any other answer. */
export function explanationExtension(explanation: Explanation | undefined, more: readonly Item[] = []): Extension[] {
  return itemsOf(explanation, more).map((items) => asExtension({ name: EXPLANATION, items }))
}

/** The common structure of a parameter with parts and a nested extension: a name, and a value or further items. */
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

/** Writes an item as an extension whose url is its name. */
export function asExtension({ name, items, value }: Item): Extension {
  return items === undefined ? { url: name, ...value } : { url: name, extension: items.map(asExtension) }
}

/** Returns the items of an explanation if it has any, because FHIR does not allow an empty list. */
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
