import { numberOf } from './comparison.js'
import { decimal, placesOf } from './decimal.js'
import { isDecimal, isQuantity, isTemporal, systemTypeOf, type SystemValue } from './item.js'
import { evaluationProblem } from './problem.js'
import { inFinerUnit, inUnit, unitOfProduct, type Quantity, type UnitConversion } from './quantity.js'
import { addDuration } from './temporal.js'

const QUOTIENT_PLACES = 8

/** `+`: adds numbers, texts, quantities, and a duration to a date or time. `undefined` is the empty result. */
export function add(left: SystemValue, right: SystemValue, convert?: UnitConversion): SystemValue | undefined {
  if (typeof left === 'string' && typeof right === 'string') return left + right
  if (isTemporal(left) && isQuantity(right)) return addDuration(left, right)
  return additive('+', left, right) ?? sumOfQuantities(left, right, { sign: 1, convert })
}

/** `-`: subtracts numbers, quantities, and a duration from a date or time. */
export function subtract(left: SystemValue, right: SystemValue, convert?: UnitConversion): SystemValue | undefined {
  if (isTemporal(left) && isQuantity(right)) return addDuration(left, negated(right))
  return additive('-', left, right) ?? sumOfQuantities(left, right, { sign: -1, convert })
}

/** `*`: multiplies numbers and quantities, whose units are combined. */
export function multiply(left: SystemValue, right: SystemValue): SystemValue | undefined {
  if (isQuantity(left) || isQuantity(right)) return productOfQuantities(left, right)
  const [a, b] = numbers('*', left, right)
  if (typeof left === 'number' && typeof right === 'number') return integer(a * b)
  return decimal(a * b, places(left) + places(right))
}

/** `/`: always a decimal; empty when divided by zero. */
export function divide(left: SystemValue, right: SystemValue, convert?: UnitConversion): SystemValue | undefined {
  if (isQuantity(left) || isQuantity(right)) return quotientOfQuantities(left, right, convert)
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

/** Negates a value. @throws {OperationError} `fhirpath-invalid` for a value without a sign. */
export function negate(value: SystemValue): SystemValue {
  if (isQuantity(value)) return negated(value)
  if (isDecimal(value)) return { ...value, value: -value.value }
  if (typeof value === 'number') return value === 0 ? 0 : -value
  throw evaluationProblem(`${systemTypeOf(value)} has no sign`)
}

/** Returns an Integer; `undefined` when the value is out of range. */
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

interface Sum {
  readonly sign: 1 | -1
  readonly convert: UnitConversion | undefined
}

/** Adds quantities, in the finer of their units. Quantities whose units cannot be converted have no sum. */
function sumOfQuantities(left: SystemValue, right: SystemValue, { sign, convert }: Sum): SystemValue | undefined {
  if (!isQuantity(left) || !isQuantity(right)) {
    if (isQuantity(left) || isQuantity(right))
      throw evaluationProblem(`a Quantity does not add to ${systemTypeOf(isQuantity(left) ? right : left)}`)
    return undefined
  }
  const [one, other] = inFinerUnit(left, right, convert) ?? []
  if (one === undefined || other === undefined) return undefined
  const value = decimal(one.value.value + sign * other.value.value, Math.max(one.value.places, other.value.places))
  return { ...one, value }
}

function productOfQuantities(left: SystemValue, right: SystemValue): SystemValue | undefined {
  const [one, other] = amounts('*', left, right)
  const unit = unitOfProduct(one.unit, other.unit, 1)
  if (unit === undefined) return undefined
  return { kind: 'quantity', value: decimal(one.value.value * other.value.value, one.value.places + other.value.places), unit }
}

/** Divides quantities. Units that can be converted cancel out. */
function quotientOfQuantities(left: SystemValue, right: SystemValue, convert: UnitConversion | undefined): SystemValue | undefined {
  const [one, other] = amounts('/', left, right)
  const converted = isQuantity(right) ? inUnit(other, one.unit, convert) : undefined
  const unit = converted === undefined ? unitOfProduct(one.unit, other.unit, -1) : '1'
  const by = (converted ?? other).value.value
  const value = by === 0 ? undefined : quotient(one.value.value, by)
  return isDecimal(value) && unit !== undefined ? { kind: 'quantity', value, unit } : undefined
}

/** Returns both sides as quantities: a number has the unit 1. */
function amounts(operator: string, left: SystemValue, right: SystemValue): [Quantity, Quantity] {
  const [one, other] = [amountOf(left), amountOf(right)]
  if (one !== undefined && other !== undefined) return [one, other]
  throw evaluationProblem(`'${operator}' does not apply to ${systemTypeOf(left)} and ${systemTypeOf(right)}`)
}

function amountOf(value: SystemValue): Quantity | undefined {
  if (isQuantity(value)) return value
  const number = numberOf(value)
  return number === undefined ? undefined : { kind: 'quantity', value: isDecimal(value) ? value : decimal(number, 0), unit: '1' }
}
