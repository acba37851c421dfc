import { quoted } from 'fhir-ops/internal/errors'
import { textAt, typeOf, type ElmNode } from '../elm/node.js'
import { failedEvaluation, invalidElm, unsupportedElm } from '../problem.js'
import { decimalOf, isUncertain, rangeOf, convertQuantity } from '../values/compare.js'
import {
  addDecimals,
  decimalOfNumber,
  decimalOfUnits,
  divideDecimals,
  isZero,
  multiplyDecimals,
  negateDecimal,
  isExactPower,
  numberOf,
  powerOf,
  remainder,
  roundDecimal,
  subtractDecimals,
  truncateDecimal,
  truncatedQuotient,
  wholePart,
  type Decimal,
} from '../values/decimal.js'
import { closedInterval } from '../values/interval.js'
import { extreme, integer, long, neighbour } from '../values/point.js'
import { sizeOf } from '../values/size.js'
import { addDuration, isMovedBy } from '../values/temporal-arithmetic.js'
import { boundaryOf, finestOf, precisionOf, type Temporal } from '../values/temporal.js'
import { combinedUnit, durationUnit, factorBetween, MAX_UNIT, type UnitConversion } from '../values/units.js'
import { isDecimal, isQuantity, isTemporal, quantity, type PointType, type Quantity, type Value } from '../values/value.js'
import type { Compiler, Compute, NodeCompiler, NodeCompilers, Scope } from './compiler.js'
import { binary, operandOf, operandsOf, optionalAt, twoOperands, unary } from './operators.js'

/** Arithmetic operators (CQL reference, section 7). Overflow and division by zero return null. */
export const ARITHMETIC: NodeCompilers = {
  Add: summing(1),
  Subtract: summing(-1),
  Multiply: binary(product),
  Divide: binary((left, right) => quotient(left, right)),
  TruncatedDivide: binary((left, right, { convert }) => wholeQuotient(left, right, convert)),
  Modulo: binary((left, right, { convert }) => rest(left, right, convert)),
  Power: (node, scope, compiler) => {
    const [base, exponent] = twoOperands(node, scope, compiler)
    return (evaluation) => {
      const [a, b] = [base(evaluation), exponent(evaluation)]
      evaluation.spend(sizeOf(a) + sizeOf(b) + stepsOfPower(b))
      return a === null || b === null ? null : power(a, b)
    }
  },
  Log: binary((left, right) => real(left, (value) => Math.log(value) / Math.log(numeric(right)))),
  Negate: (node, scope, compiler) => {
    // The least Integer is written as the negation of a number that is too large for an Integer.
    const operand = operandOf(node)
    if (typeOf(operand) === 'Literal' && !(textAt(operand, 'value') ?? '-').startsWith('-'))
      return negativeLiteral(operand, scope, compiler)
    return unary((value) => negated(value))(node, scope, compiler)
  },
  Abs: unary((value) => (isNegative(value) ? negated(value) : value)),
  Ceiling: unary((value) => wholeNumber(value, 1)),
  Floor: unary((value) => wholeNumber(value, -1)),
  Truncate: unary((value) => wholeNumber(value, 0)),
  Ln: unary((value, _, node) => logarithm(value, node)),
  Exp: unary((value, _, node) => exponential(value, node)),
  Successor: unary((value, _, node) => neighbourOf(value, 1, node)),
  Predecessor: unary((value, _, node) => neighbourOf(value, -1, node)),
  Round: (node, scope, compiler) => {
    const value = compiler.compile(operandOf(node), scope)
    const precision = optionalAt(node, 'precision', scope, compiler)
    return (evaluation) => {
      const [rounded, places] = [value(evaluation), precision(evaluation)]
      const given = decimalOf(rounded)
      evaluation.spend(sizeOf(rounded))
      return given === undefined ? null : (roundDecimal(given, typeof places === 'number' ? places : 0) ?? null)
    }
  },
  Precision: unary((value) => (isDecimal(value) ? value.places : isTemporal(value) ? digitsOf(value) : null)),
  LowBoundary: boundary('least'),
  HighBoundary: boundary('greatest'),
  MinValue: (node) => extremeAt(node, -1),
  MaxValue: (node) => extremeAt(node, 1),
}

/** Steps of moving a date or time. */
const MOVE_STEPS = 3

function summing(sign: 1 | -1): NodeCompiler {
  return (node, scope, compiler) => {
    const [left, right] = twoOperands(node, scope, compiler)
    const how: Sum = { sign, convert: compiler.convert, node }
    return (evaluation) => {
      const [a, b] = [left(evaluation), right(evaluation)]
      evaluation.spend(sizeOf(a) + sizeOf(b) + (isTemporal(a) ? MOVE_STEPS : 0))
      return a === null || b === null ? null : sum(a, b, how)
    }
  }
}

/** Options of an addition or subtraction. */
interface Sum {
  readonly sign: 1 | -1
  readonly convert: UnitConversion
  readonly node: ElmNode
}

function sum(left: Value, right: Value, how: Sum): Value {
  const { sign } = how
  if (typeof left === 'number' && typeof right === 'number') return integer(left + sign * right)
  if (typeof left === 'bigint' && typeof right === 'bigint') return long(left + BigInt(sign) * right)
  if (isUncertain(left) || isUncertain(right)) return uncertainSum(left, right, how)
  if (isTemporal(left)) return isQuantity(right) ? later(left, right, how) : null
  if (isQuantity(left)) return isQuantity(right) ? quantitySum(left, right, how) : null
  const [a, b] = [decimalOf(left), decimalOf(right)]
  return a === undefined || b === undefined ? null : ((sign > 0 ? addDecimals(a, b) : subtractDecimals(a, b)) ?? null)
}

function later(value: Temporal, amount: Quantity, { sign, node }: Sum): Value {
  if (durationUnit(amount.unit) === undefined)
    throw failedEvaluation(`The unit ${quoted(amount.unit)} is not a duration, which a date could be moved by.`, node)
  if (!isMovedBy(value.kind, amount.unit))
    throw failedEvaluation(`A time of day cannot be moved by ${quoted(amount.unit)}; hours, minutes, seconds and milliseconds can.`, node)
  const moved = addDuration(value, amount.value, amount.unit, sign)
  if (moved === undefined) throw failedEvaluation('The result of date arithmetic is not a date of the years 1 to 9999.', node)
  return moved
}

function uncertainSum(left: Value, right: Value, how: Sum): Value {
  const [[leftLow, leftHigh], [rightLow, rightHigh]] = [rangeOf(left), rangeOf(right)]
  const [least, greatest] = how.sign > 0 ? [rightLow, rightHigh] : [rightHigh, rightLow]
  return uncertain(sum(leftLow, least, how), sum(leftHigh, greatest, how))
}

/** Creates an uncertain result between two values. */
export function uncertain(low: Value, high: Value): Value {
  return low === high ? low : { ...closedInterval(low, high), uncertain: true }
}

/** The sum in the finer of the two units. */
function quantitySum(left: Quantity, right: Quantity, { sign, convert }: Sum): Value {
  const [a, b] = inOneUnit(left, right, convert)
  if (a === undefined || b === undefined) return null
  const value = sign > 0 ? addDecimals(a.value, b.value) : subtractDecimals(a.value, b.value)
  return value === undefined ? null : quantity(value, a.unit)
}

/** Two quantities in the finer of their units. */
function inOneUnit(left: Quantity, right: Quantity, convert: UnitConversion): readonly (Quantity | undefined)[] {
  if (left.unit === right.unit) return [left, right]
  const factor = factorBetween(convert, left.unit, right.unit, true)
  const unit = factor !== undefined && factor > 1 ? right.unit : left.unit
  return [convertQuantity(left, unit, convert), convertQuantity(right, unit, convert)]
}

/** The product of two numbers or quantities, with their units combined; null if it is too large. */
export function product(left: Value, right: Value, compiler: Compiler): Value {
  if (typeof left === 'number' && typeof right === 'number') return integer(left * right)
  if (typeof left === 'bigint' && typeof right === 'bigint') return long(left * right)
  if (isUncertain(left) || isUncertain(right)) return uncertainProduct(left, right, compiler)
  if (isQuantity(left) || isQuantity(right)) return quantityResult(left, right, 1, multiplyDecimals)
  const [a, b] = [decimalOf(left), decimalOf(right)]
  return a === undefined || b === undefined ? null : (multiplyDecimals(a, b) ?? null)
}

function uncertainProduct(left: Value, right: Value, compiler: Compiler): Value {
  const results = rangeOf(left)
    .flatMap((a) => rangeOf(right).map((b) => product(a, b, compiler)))
    .filter((value) => typeof value === 'number')
  return uncertain(Math.min(...results), Math.max(...results))
}

/** The quotient of two numbers or quantities; null if it is not defined. */
export function quotient(left: Value, right: Value): Value {
  if (isQuantity(left) || isQuantity(right)) return quantityResult(left, right, -1, divideDecimals)
  const [a, b] = [decimalOf(left), decimalOf(right)]
  return a === undefined || b === undefined ? null : (divideDecimals(a, b) ?? null)
}

function quantityResult(left: Value, right: Value, sign: 1 | -1, operation: (a: Decimal, b: Decimal) => Decimal | undefined): Value {
  const [a, b] = [asQuantity(left), asQuantity(right)]
  const value = a === undefined || b === undefined ? undefined : operation(a.value, b.value)
  if (value === undefined) return null
  const [ofA, ofB] = [a?.unit ?? '1', b?.unit ?? '1']
  if (ofA.length + ofB.length > MAX_UNIT)
    throw failedEvaluation(`The unit of a product or quotient may have at most ${MAX_UNIT} characters.`)
  return quantity(value, combinedUnit(ofA, ofB, sign))
}

function asQuantity(value: Value): Quantity | undefined {
  if (isQuantity(value)) return value
  const amount = decimalOf(value)
  return amount === undefined ? undefined : quantity(amount)
}

function wholeQuotient(left: Value, right: Value, convert: UnitConversion): Value {
  if (typeof left === 'number' && typeof right === 'number') return right === 0 ? null : integer(Math.trunc(left / right))
  if (typeof left === 'bigint' && typeof right === 'bigint') return right === 0n ? null : long(left / right)
  return decimalsOrAmounts(left, right, { operation: truncatedQuotient, convert })
}

interface DecimalOperation {
  readonly operation: (a: Decimal, b: Decimal) => Decimal | undefined
  readonly convert: UnitConversion
}

/** Applies an operation to two decimals, or to two quantities after converting them to one unit, which the result has. */
function decimalsOrAmounts(left: Value, right: Value, { operation, convert }: DecimalOperation): Value {
  if (isQuantity(left) && isQuantity(right)) {
    const [one, other] = inOneUnit(left, right, convert)
    const value = one === undefined || other === undefined ? undefined : operation(one.value, other.value)
    return one === undefined || value === undefined ? null : quantity(value, one.unit)
  }
  const [a, b] = [decimalOf(left), decimalOf(right)]
  return a === undefined || b === undefined ? null : (operation(a, b) ?? null)
}

function rest(left: Value, right: Value, convert: UnitConversion): Value {
  if (typeof left === 'number' && typeof right === 'number') return right === 0 ? null : (left % right) + 0
  if (typeof left === 'bigint' && typeof right === 'bigint') return right === 0n ? null : left % right
  return decimalsOrAmounts(left, right, { operation: remainder, convert })
}

/** A power. With a non-negative exponent, Integers stay Integers; powers with integer exponents are exact. */
function power(left: Value, right: Value): Value {
  if (typeof left === 'number' && typeof right === 'number' && right >= 0) return integer(left ** right)
  if (typeof left === 'bigint' && typeof right === 'bigint' && right >= 0n) return longPower(left, right)
  const [base, exponent] = [decimalOf(left), decimalOf(right)]
  if (base !== undefined && exponent !== undefined && isExactPower(exponent)) return powerOf(base, numberOf(exponent)) ?? null
  return real(left, (value) => value ** numeric(right))
}

/** Number of factors of a power that are multiplied in one step. */
const FACTORS_OF_STEP = 4

/** Steps of an exact power. */
function stepsOfPower(exponent: Value): number {
  const size = decimalOf(exponent)
  return size !== undefined && isExactPower(size) ? Math.abs(numberOf(size)) / FACTORS_OF_STEP : 0
}

function longPower(base: bigint, exponent: bigint): Value {
  return exponent > 64n && base !== 0n && base !== 1n && base !== -1n ? null : long(base ** exponent)
}

function real(value: Value, compute: (value: number) => number): Value {
  return decimalOfNumber(compute(numeric(value))) ?? null
}

function numeric(value: Value): number {
  const amount = decimalOf(value)
  return amount === undefined ? Number.NaN : numberOf(amount)
}

function logarithm(value: Value, node: ElmNode): Value {
  const amount = numeric(value)
  if (amount === 0) throw failedEvaluation('The natural logarithm of 0 is not defined.', node)
  return real(value, Math.log)
}

function exponential(value: Value, node: ElmNode): Value {
  const result = real(value, Math.exp)
  if (result === null) throw failedEvaluation('The result of Exp is larger than the largest Decimal.', node)
  return result
}

function negativeLiteral(operand: ElmNode, scope: Scope, compiler: Compiler): Compute {
  const text = `-${textAt(operand, 'value')}`
  const isTooLarge = (textAt(operand, 'valueType') ?? '').endsWith('}Integer') && integer(Number(text)) === null
  return isTooLarge ? () => null : compiler.compile({ ...operand, value: text }, scope)
}

function negated(value: Value): Value {
  if (typeof value === 'number') return integer(-value)
  if (typeof value === 'bigint') return long(-value)
  if (isDecimal(value)) return negateDecimal(value)
  return isQuantity(value) ? quantity(negateDecimal(value.value), value.unit) : null
}

function isNegative(value: Value): boolean {
  if (typeof value === 'number' || typeof value === 'bigint') return value < 0
  return (isQuantity(value) ? value.value.units : isDecimal(value) ? value.units : 0) < 0
}

function wholeNumber(value: Value, towards: -1 | 0 | 1): Value {
  const amount = decimalOf(value)
  if (amount === undefined) return null
  const { whole, rest: left } = wholePart(amount)
  return integer(Number(whole) + (left !== 0 && left === towards ? towards : 0))
}

function neighbourOf(value: Value, side: 1 | -1, node: ElmNode): Value {
  const next = neighbour(value, side)
  if (next === undefined)
    throw failedEvaluation(`There is no ${side > 0 ? 'successor of the greatest' : 'predecessor of the least'} value.`, node)
  return next
}

const EXTREMES: readonly PointType[] = ['Integer', 'Long', 'Decimal', 'Quantity', 'Date', 'DateTime', 'Time']

function extremeAt(node: ElmNode, side: 1 | -1): () => Value {
  const name = textAt(node, 'valueType') ?? ''
  const value = extreme(
    EXTREMES.find((type) => name.endsWith(`}${type}`)),
    side,
  )
  if (value === undefined) throw unsupportedElm(node, `The type ${quoted(name)} has no ${side < 0 ? 'least' : 'greatest'} value.`)
  return () => value
}

/** Number of digits of a date or time, as returned by `Precision`: 4, 6, 8, 10, 12, 14, 17; for a time, without the 8 of the date. */
function digitsOf(value: Temporal): number {
  const digits = [4, 6, 8, 10, 12, 14, 17][value.precision] ?? 17
  return value.kind === 'time' ? digits - 8 : digits
}

function boundary(end: 'least' | 'greatest'): ReturnType<typeof binary> {
  return (node, scope, compiler) => {
    const [value, precision, ...more] = operandsOf(node, scope, compiler)
    if (value === undefined || more.length > 0) throw invalidElm(node, `${typeOf(node)} must have one or two operands.`)
    return (evaluation) => {
      const [given, digits] = [value(evaluation), precision?.(evaluation) ?? null]
      evaluation.spend(sizeOf(given))
      if (isTemporal(given)) return temporalBoundary(given, end, digits)
      const amount = decimalOf(given)
      return amount === undefined ? null : decimalBoundary(amount, end, typeof digits === 'number' ? digits : 8)
    }
  }
}

function temporalBoundary(value: Temporal, end: 'least' | 'greatest', digits: Value): Value {
  const wanted =
    typeof digits === 'number' ? [4, 6, 8, 10, 12, 14, 17].indexOf(value.kind === 'time' ? digits + 8 : digits) : finestOf(value.kind)
  const precision = precisionOf(wanted)
  return precision === undefined ? null : (boundaryOf(value, end, precision) ?? null)
}

function decimalBoundary(amount: Decimal, end: 'least' | 'greatest', places: number): Value {
  if (places > 8 || places < 0) return null
  if (places < amount.places) return truncateDecimal(amount, places) ?? null
  if (end === 'least' || places === amount.places) return decimalOfUnits(amount.units, places) ?? null
  const gap: Decimal = { kind: 'decimal', units: 10 ** (8 - amount.places) - 10 ** (8 - places), places }
  return (isZero(amount) || amount.units > 0 ? addDecimals(amount, gap) : subtractDecimals(amount, gap)) ?? null
}
