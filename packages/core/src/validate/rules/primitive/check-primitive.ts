import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject } from '../../../json/index.js'
import { itemRemoval, removal, replacement, type JsonPatch } from '../../fix/patch.js'
import { numberTextOf } from '../../walk/number-text.js'
import type { Run } from '../../walk/run.js'
import { base64Problem } from './base64.js'
import { dateProblem, dateTimeProblem, instantProblem, timeProblem } from './date-time.js'
import { decimalProblem, integerProblem, positiveIntProblem, unsignedIntProblem } from './number.js'
import type { PrimitiveProblem } from './primitive-problem.js'
import { repairsOf } from './repairs.js'
import { codeProblem, idProblem, markdownProblem, stringProblem } from './text.js'
import { canonicalProblem, oidProblem, uriProblem, uuidProblem } from './uri.js'

type TextCheck = (text: string, now: Date) => PrimitiveProblem | undefined
type NumberCheck = (source: string) => PrimitiveProblem | undefined

/**
 * What is wrong with a value of a primitive type; `undefined` when it is right.
 *
 * @param source A number as it was written.
 */
export type PrimitiveCheck = (value: unknown, source: string, now: Date) => PrimitiveProblem | undefined

const CHECKS: ReadonlyMap<string, PrimitiveCheck> = new Map<string, PrimitiveCheck>([
  ['boolean', (value) => (typeof value === 'boolean' ? undefined : wrongType(value, 'true or false'))],
  ['base64Binary', onText(base64Problem)],
  ['canonical', onText(canonicalProblem)],
  ['code', onText(codeProblem)],
  ['date', onText(dateProblem)],
  ['dateTime', onText(dateTimeProblem)],
  ['id', onText(idProblem)],
  ['instant', onText(instantProblem)],
  ['markdown', onText(markdownProblem)],
  ['oid', onText(oidProblem)],
  ['string', onText(stringProblem)],
  ['time', onText(timeProblem)],
  ['uri', onText(uriProblem)],
  ['url', onText(uriProblem)],
  ['uuid', onText(uuidProblem)],
  ['decimal', onNumber(decimalProblem)],
  ['integer', onNumber(integerProblem)],
  ['positiveInt', onNumber(positiveIntProblem)],
  ['unsignedInt', onNumber(unsignedIntProblem)],
])

/** Checks the JSON type and the form of a primitive value. False when it is wrong, so that nothing else need look at it. */
export function checkPrimitive(run: Run, node: FhirNode): boolean {
  const { value, type } = node
  const source = typeof value === 'number' ? numberTextOf(run, node, value) : ''
  const problem = primitiveCheck(type.name)(value, source, run.now)
  if (problem === undefined) return true
  const severity = MARKUP.has(problem.kind) && run.refuses.has('markup') ? 'error' : problem.severity
  run.sink.report(problem.kind, node, { ...problem, ...(severity !== undefined && { severity }), fix: fixOf(node, source, run.now) })
  return problem.severity !== undefined
}

const MARKUP: ReadonlySet<PrimitiveProblem['kind']> = new Set(['markdown-html', 'string-markup'])

/** The check of a primitive type. */
export function primitiveCheck(type: string): PrimitiveCheck {
  return CHECKS.get(type) ?? ANY_TEXT
}

const ANY_TEXT = onText(() => undefined)

function onText(check: TextCheck): PrimitiveCheck {
  return (value, _source, now) => {
    if (typeof value !== 'string') return wrongType(value, 'a string')
    return value === '' ? { kind: 'primitive-empty', text: 'A value must not be empty.' } : check(value, now)
  }
}

function onNumber(check: NumberCheck): PrimitiveCheck {
  return (value, source) => (typeof value === 'number' ? check(source) : wrongType(value, 'a number'))
}

function wrongType(value: unknown, expected: string): PrimitiveProblem {
  const found = isObject(value) ? 'an object' : `a ${typeof value}`
  return { kind: 'primitive-type', text: `The value must be ${expected}, not ${found}.` }
}

/** Another way of writing the same, where the type's own check takes it; a text of nothing is taken away. */
function fixOf(node: FhirNode, source: string, now: Date): JsonPatch | undefined {
  const { value, type } = node
  if (typeof value === 'string' && value.trim() === '') return emptyRemoval(node)
  const right = repairsOf(type.name, value, source).find((repair) => primitiveCheck(type.name)(repair, String(repair), now) === undefined)
  return right === undefined ? undefined : replacement(node, right)
}

function emptyRemoval({ parent, slot, index, extra }: FhirNode): JsonPatch | undefined {
  if (parent === undefined || slot === undefined || extra !== undefined) return undefined
  return index < 0 ? removal(parent, slot.jsonName) : itemRemoval(parent, [slot.jsonName, slot.siblingName], index)
}
