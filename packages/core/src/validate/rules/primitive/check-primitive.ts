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

const TEXT_CHECKS: ReadonlyMap<string, TextCheck> = new Map<string, TextCheck>([
  ['base64Binary', base64Problem],
  ['canonical', canonicalProblem],
  ['code', codeProblem],
  ['date', dateProblem],
  ['dateTime', dateTimeProblem],
  ['id', idProblem],
  ['instant', instantProblem],
  ['markdown', markdownProblem],
  ['oid', oidProblem],
  ['string', stringProblem],
  ['time', timeProblem],
  ['uri', uriProblem],
  ['url', uriProblem],
  ['uuid', uuidProblem],
])

const NUMBER_CHECKS: ReadonlyMap<string, NumberCheck> = new Map<string, NumberCheck>([
  ['decimal', decimalProblem],
  ['integer', integerProblem],
  ['positiveInt', positiveIntProblem],
  ['unsignedInt', unsignedIntProblem],
])

/** Checks the JSON type and the form of a primitive value. False when it is wrong, so that nothing else need look at it. */
export function checkPrimitive(run: Run, node: FhirNode): boolean {
  const { value, type } = node
  const source = typeof value === 'number' ? numberTextOf(run, node, value) : ''
  const problem = primitiveProblem(type.name, { value, source, now: run.now })
  if (problem === undefined) return true
  const severity = MARKUP.has(problem.kind) && run.refuses.has('markup') ? 'error' : problem.severity
  run.sink.report(problem.kind, node, { ...problem, ...(severity !== undefined && { severity }), fix: fixOf(node, source, run.now) })
  return problem.severity !== undefined
}

const MARKUP: ReadonlySet<PrimitiveProblem['kind']> = new Set(['markdown-html', 'string-markup'])

/** A value with what its check needs. */
export interface Primitive {
  readonly value: unknown
  /** A number as it was written. */
  readonly source: string
  readonly now: Date
}

/** What is wrong with a value of a primitive type; `undefined` when it is right. */
export function primitiveProblem(type: string, { value, source, now }: Primitive): PrimitiveProblem | undefined {
  const numberCheck = NUMBER_CHECKS.get(type)
  if (numberCheck !== undefined) return typeof value === 'number' ? numberCheck(source) : wrongType(value, 'a number')
  if (type === 'boolean') return typeof value === 'boolean' ? undefined : wrongType(value, 'true or false')
  if (typeof value !== 'string') return wrongType(value, 'a string')
  if (value === '') return { kind: 'primitive-empty', text: 'A value must not be empty.' }
  return TEXT_CHECKS.get(type)?.(value, now)
}

function wrongType(value: unknown, expected: string): PrimitiveProblem {
  const found = isObject(value) ? 'an object' : `a ${typeof value}`
  return { kind: 'primitive-type', text: `The value must be ${expected}, not ${found}.` }
}

/** Another way of writing the same, where the type's own check takes it; a text of nothing is taken away. */
function fixOf(node: FhirNode, source: string, now: Date): JsonPatch | undefined {
  const { value, type } = node
  if (typeof value === 'string' && value.trim() === '') return emptyRemoval(node)
  const right = repairsOf(type.name, value, source).find(
    (repair) => primitiveProblem(type.name, { value: repair, source: String(repair), now }) === undefined,
  )
  return right === undefined ? undefined : replacement(node, right)
}

function emptyRemoval({ parent, slot, index, extra }: FhirNode): JsonPatch | undefined {
  if (parent === undefined || slot === undefined || extra !== undefined) return undefined
  return index < 0 ? removal(parent, slot.jsonName) : itemRemoval(parent, [slot.jsonName, slot.siblingName], index)
}
