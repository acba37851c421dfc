import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject } from '../../../json/index.js'
import { numberTextOf } from '../../walk/number-text.js'
import type { Run } from '../../walk/run.js'
import { base64Problem } from './base64.js'
import { dateProblem, dateTimeProblem, instantProblem, timeProblem } from './date-time.js'
import { decimalProblem, integerProblem, positiveIntProblem, unsignedIntProblem } from './number.js'
import type { PrimitiveProblem } from './primitive-problem.js'
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
  const problem = problemOf(run, node)
  if (problem === undefined) return true
  run.sink.report(problem.kind, node, problem)
  return problem.severity === 'warning'
}

function problemOf(run: Run, node: FhirNode): PrimitiveProblem | undefined {
  const { value, type } = node
  const numberCheck = NUMBER_CHECKS.get(type.name)
  if (numberCheck !== undefined)
    return typeof value === 'number' ? numberCheck(numberTextOf(run, node, value)) : wrongType(value, 'a number')
  if (type.name === 'boolean') return typeof value === 'boolean' ? undefined : wrongType(value, 'true or false')
  if (typeof value !== 'string') return wrongType(value, 'a string')
  if (value === '') return { kind: 'primitive-empty', text: 'A value must not be empty.' }
  return TEXT_CHECKS.get(type.name)?.(value, run.now)
}

function wrongType(value: unknown, expected: string): PrimitiveProblem {
  const found = isObject(value) ? 'an object' : `a ${typeof value}`
  return { kind: 'primitive-type', text: `The value must be ${expected}, not ${found}.` }
}
