import type { OperationContext } from '../src/context/index.js'
import { objectAt, objectsAt, stringAt, type JsonObject } from '../src/json/index.js'
import { call, codeSystem, contextOf, cs, LIVING, valueSet, vs } from './terminology-content.js'
import { valueSetValidateCodeOperation } from '../src/operations/index.js'

/** The cat and what is below it. */
export const CATS: JsonObject = valueSet('cats', {
  include: [{ system: cs('living'), filter: [{ property: 'concept', op: 'is-a', value: 'cat' }] }],
})
const DEPRECATING = valueSet('deprecating', {
  include: [
    {
      system: cs('living'),
      concept: [{ code: 'dog', extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/valueset-deprecated', valueBoolean: true }] }],
    },
  ],
})

/** Code systems and value sets to validate codes with. */
export const content: OperationContext = contextOf(
  LIVING,
  CATS,
  DEPRECATING,
  valueSet('all', { include: [{ system: cs('living') }] }),
  valueSet('active', { inactive: false, include: [{ system: cs('living') }] }),
  valueSet('importing', { include: [{ valueSet: [vs('gone')] }] }),
  valueSet('unknown', { include: [{ system: cs('gone') }] }),
  { resourceType: 'CodeSystem', url: cs('more'), status: 'active', content: 'supplement', supplements: cs('living') },
  codeSystem('fragment', [{ code: 'x' }], { content: 'fragment', version: '1' }),
  codeSystem('folded', [{ code: 'Ab', display: 'AB' }], { caseSensitive: false }),
  valueSet('named', { include: [{ system: cs('living'), concept: [{ code: 'cat', display: 'Puss' }] }] }),
  valueSet('fragment', { include: [{ system: cs('fragment') }] }),
  valueSet('folded', { include: [{ system: cs('folded') }] }),
  codeSystem('twin', [{ code: 'cat' }]),
  valueSet('both', { include: [{ system: cs('living') }, { system: cs('twin') }] }),
)

/** What is said of a code. */
export interface Answer {
  readonly result: unknown
  /** The issues as `severity message expression`, sorted. */
  readonly ids: readonly string[]
  /** The value of a parameter. */
  readonly parameter: (name: string) => unknown
}

/** Reads the Parameters that a validation gives. */
export function answerOf(resource: JsonObject): Answer {
  const parameters = objectsAt(resource, 'parameter')
  const find = (name: string): JsonObject | undefined => parameters.find((one) => one['name'] === name)
  const value = (name: string): unknown => Object.entries(find(name) ?? {}).find(([key]) => key.startsWith('value'))?.[1]
  const issues = objectsAt(objectAt(find('issues'), 'resource'), 'issue')
  const ids = issues.map(
    (issue) => `${stringAt(issue, 'severity')} ${stringAt(objectsAt(issue, 'extension')[0], 'valueString')} ${placeOf(issue)}`,
  )
  return { result: value('result'), ids: ids.map((id) => id.trim()).sort(), parameter: value }
}

function placeOf({ expression }: JsonObject): string {
  return Array.isArray(expression) ? expression.join() : ''
}

/** Validates a code with a value set of `content`. */
export async function inSet(set: string, ...parameter: readonly JsonObject[]): Promise<Answer> {
  return answerOf(await call(valueSetValidateCodeOperation, content, [{ name: 'url', valueUri: vs(set) }, ...parameter]))
}

/** A coding of the living as parameter. */
export function coding(value: JsonObject): JsonObject {
  return { name: 'coding', valueCoding: { system: cs('living'), ...value } }
}

export const NOT_IN = 'error None_of_the_provided_codes_are_in_the_value_set_one Coding.code'
