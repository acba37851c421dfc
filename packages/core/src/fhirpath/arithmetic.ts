import { numberOf } from './comparison.js'
import { decimal, placesOf } from './decimal.js'
import { isDecimal, isQuantity, isTemporal, type SystemValue } from './item.js'
import { evaluationProblem } from './problem.js'
import { inUnit, type Quantity } from './quantity.js'
import { addDuration } from './temporal.js'
import { systemTypeOf } from './to-system.js'

const QUOTIENT_PLACES = 8

/** `+`: numbers, text, quantities, and a duration added to a date or time. `undefined` is the empty result. */
export function add(left: SystemValue, right: SystemValue): SystemValue | undefined {
  if (typeof left === 'string' && typeof right === 'string') return left + right
  if (isTemporal(left) && isQuantity(right)) return addDuration(left, right)
  return additive('+', left, right) ?? sumOfQuantities(left, right, 1)
}

/** `-`: numbers, quantities, and a duration taken from a date or time. */
export function subtract(left: SystemValue, right: SystemValue): SystemValue | undefined {
  if (isTemporal(left) && isQuantity(right)) return addDuration(left, negated(right))
  return additive('-', left, right) ?? sumOfQuantities(left, right, -1)
}

/** `*`: numbers, and a quantity times a number. */
export function multiply(left: SystemValue, right: SystemValue): SystemValue | undefined {
  if (isQuantity(left) || isQuantity(right)) return productOfQuantities(left, right)
  const [a, b] = numbers('*', left, right)
  if (typeof left === 'number' && typeof right === 'number') return integer(a * b)
  return decimal(a * b, places(left) + places(right))
}

/** `/`: always a decimal; empty when divided by zero. */
export function divide(left: SystemValue, right: SystemValue): SystemValue | undefined {
  if (isQuantity(left)) return quotientOfQuantity(left, right)
  const [a, b] = numbers('/', left, right)
  return b === 0 ? undefined : quotient(a, b)
}

/** `div`: the whole part of the quotient; empty when divided by zero. */
export function divideWhole(left: SystemValue, right: SystemValue): SystemValue | undefined {
  const [a, b] = numbers('div', left, right)
  return b === 0 ? undefined : integer(Math.trunc(a / b))
}

/** `mod`: the remainder, with the sign of the dividend; empty when divided by zero. */
export function modulo(left: SystemValue, right: SystemValue): SystemValue | undefined {
  const [a, b] = numbers('mod', left, right)
  if (b === 0) return undefined
  return typeof left === 'number' && typeof right === 'number' ? a % b : decimal(a % b, Math.max(places(left), places(right)))
}

/** The value with the other sign. @throws {OperationError} `fhirpath-invalid` for what has none. */
export function negate(value: SystemValue): SystemValue {
  if (isQuantity(value)) return negated(value)
  if (isDecimal(value)) return { ...value, value: -value.value }
  if (typeof value === 'number') return value === 0 ? 0 : -value
  throw evaluationProblem(`${systemTypeOf(value)} has no sign`)
}

/** An Integer, or nothing when it is out of range. */
export function integer(value: number): number | undefined {
  return value >= -2_147_483_648 && value <= 2_147_483_647 ? value : undefined
}

function additive(operator: '+' | '-', left: SystemValue, right: SystemValue): SystemValue | undefined {
  if (isQuantity(left) || isQuantity(right)) return undefined
  const [a, b] = numbers(operator, left, right)
  const sum = operator === '+' ? a + b : a - b
  if (typeof left === 'number' && typeof right === 'number') return integer(sum)
  return decimal(sum, Math.max(places(left), places(right)))
}

function numbers(operator: string, left: SystemValue, right: SystemValue): [number, number] {
  const [a, b] = [numberOf(left), numberOf(right)]
  if (a !== undefined && b !== undefined) return [a, b]
  throw evaluationProblem(`'${operator}' does not apply to ${systemTypeOf(left)} and ${systemTypeOf(right)}`)
}

function places(value: SystemValue): number {
  return isDecimal(value) ? value.places : 0
}

function quotient(a: number, b: number): SystemValue {
  const rounded = decimal(a / b, QUOTIENT_PLACES)
  return { ...rounded, places: Math.min(QUOTIENT_PLACES, placesOf(rounded.value)) }
}

function negated(quantity: Quantity): Quantity {
  return { ...quantity, value: { ...quantity.value, value: -quantity.value.value } }
}

/** Quantities of units that do not convert have no sum. */
function sumOfQuantities(left: SystemValue, right: SystemValue, sign: 1 | -1): SystemValue | undefined {
  if (!isQuantity(left) || !isQuantity(right)) {
    if (isQuantity(left) || isQuantity(right))
      throw evaluationProblem(`a Quantity does not add to ${systemTypeOf(isQuantity(left) ? right : left)}`)
    return undefined
  }
  const converted = inUnit(right, left.unit)
  if (converted === undefined) return undefined
  const value = decimal(left.value.value + sign * converted.value.value, Math.max(left.value.places, converted.value.places))
  return { ...left, value }
}

function productOfQuantities(left: SystemValue, right: SystemValue): SystemValue | undefined {
  const [quantity, factor] = isQuantity(left) ? [left, right] : [right, left]
  if (!isQuantity(quantity)) return undefined
  const [by, unit] = isQuantity(factor) ? [factor.value, factor.unit] : [factor, '1']
  const number = numberOf(by)
  if (number === undefined) throw evaluationProblem(`'*' does not apply to Quantity and ${systemTypeOf(factor)}`)
  if (unit !== '1' && quantity.unit !== '1') return undefined
  const value = decimal(quantity.value.value * number, quantity.value.places + places(by))
  return { kind: 'quantity', value, unit: unit === '1' ? quantity.unit : unit }
}

function quotientOfQuantity(left: Quantity, right: SystemValue): SystemValue | undefined {
  const { by, unit } = divisorOf(left, right)
  if (by === undefined) throw evaluationProblem(`'/' does not apply to Quantity and ${systemTypeOf(right)}`)
  const value = by === 0 || unit === undefined ? undefined : quotient(left.value.value, by)
  return isDecimal(value) ? { kind: 'quantity', value, unit: unit ?? '1' } : undefined
}

/** What a quantity is divided by, and the unit of the result; units that do not cancel out have none. */
function divisorOf(left: Quantity, right: SystemValue): { by: number | undefined; unit?: string } {
  if (!isQuantity(right)) return { by: numberOf(right), unit: left.unit }
  const converted = inUnit(right, left.unit)
  if (converted !== undefined) return { by: converted.value.value, unit: '1' }
  return right.unit === '1' ? { by: right.value.value, unit: left.unit } : { by: right.value.value }
}
