import { add, divide, integer } from '../arithmetic.js'
import { compareValues, numberOf } from '../comparison.js'
import { decimal, decimalOf } from '../decimal.js'
import { isDecimal, isQuantity, NOTHING, type Items, type SystemValue } from '../item.js'
import type { Scope } from '../code.js'
import { evaluationProblem } from '../problem.js'
import { systemTypeOf, toSystem } from '../to-system.js'
import { integerArgument, itemsFunction, singleValue, valueFunction, type FunctionDefinition } from './definition.js'

/** Functions on numbers and on collections of numbers. @see https://hl7.org/fhirpath/N1/#math */
export const MATH_FUNCTIONS: readonly FunctionDefinition[] = [
  valueFunction('abs', [0, 0], absolute),
  whole('ceiling', Math.ceil),
  whole('floor', Math.floor),
  whole('truncate', Math.trunc),
  real('exp', Math.exp),
  real('ln', Math.log),
  real('sqrt', Math.sqrt),
  valueFunction('log', [1, 1], (value, [base]) => {
    const root = numberOf(singleValue('log', base ?? NOTHING))
    return root === undefined ? undefined : finite(Math.log(numeric('log', value)) / Math.log(root))
  }),
  valueFunction('power', [1, 1], (value, [exponent]) => power(value, singleValue('power', exponent ?? NOTHING))),
  valueFunction('round', [0, 1], (value, [precision]) => {
    const places = integerArgument('round', precision) ?? 0
    if (places < 0) throw evaluationProblem('round() takes no negative precision')
    return typeof value === 'number' ? value : decimal(numeric('round', value), places)
  }),
  itemsFunction('sum', [0, 0], (input, _, scope) => total(input, scope)),
  itemsFunction('min', [0, 0], (input, _, scope) => extreme(input, -1, scope)),
  itemsFunction('max', [0, 0], (input, _, scope) => extreme(input, 1, scope)),
  itemsFunction('avg', [0, 0], (input, _, scope) => {
    const [sum] = total(input, scope)
    const whole = toSystem(sum)
    const mean = whole === undefined ? undefined : divide(whole, input.length)
    return mean === undefined ? NOTHING : [mean]
  }),
]

function whole(name: string, round: (value: number) => number): FunctionDefinition {
  return valueFunction(name, [0, 0], (value) => integer(round(numeric(name, value))))
}

function real(name: string, apply: (value: number) => number): FunctionDefinition {
  return valueFunction(name, [0, 0], (value) => finite(apply(numeric(name, value))))
}

function numeric(name: string, value: SystemValue): number {
  const number = numberOf(value)
  if (number === undefined) throw evaluationProblem(`${name}() applies to numbers, not to ${systemTypeOf(value)}`)
  return number
}

/** Returns a decimal; `undefined` for a result that is not a finite number. */
function finite(value: number): SystemValue | undefined {
  return Number.isFinite(value) ? decimalOf(value) : undefined
}

function absolute(value: SystemValue): SystemValue {
  if (isQuantity(value)) return { ...value, value: { ...value.value, value: Math.abs(value.value.value) } }
  if (isDecimal(value)) return { ...value, value: Math.abs(value.value) }
  return Math.abs(numeric('abs', value))
}

function power(value: SystemValue, exponent: SystemValue | undefined): SystemValue | undefined {
  if (exponent === undefined) return undefined
  const result = numeric('power', value) ** numeric('power', exponent)
  if (typeof value === 'number' && typeof exponent === 'number' && Number.isInteger(result)) return integer(result)
  return finite(result)
}

function total(items: Items, scope: Scope): Items {
  return folded(items, (left, right) => add(left, right, scope.run.context.host?.convertUnit))
}

/** Returns the least (-1) or greatest (1) value; empty if the order of values is unknown. */
function extreme(items: Items, sign: 1 | -1, scope: Scope): Items {
  return folded(items, (found, value) => {
    const order = compareValues(value, found, scope.run.context.host?.convertUnit)
    return order === undefined ? undefined : order * sign > 0 ? value : found
  })
}

function folded(items: Items, step: (left: SystemValue, right: SystemValue) => SystemValue | undefined): Items {
  let result: SystemValue | undefined
  for (const item of items) {
    const value = toSystem(item)
    if (value === undefined) throw evaluationProblem('a structure has no sum, average or order')
    result = result === undefined ? value : step(result, value)
    if (result === undefined) return NOTHING
  }
  return result === undefined ? NOTHING : [result]
}
