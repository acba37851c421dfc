import { textAt, type ElmNode } from '../elm/node.js'
import { compare, convertQuantity, decimalOf } from '../values/compare.js'
import {
  addDecimals,
  decimalOfInteger,
  decimalOfNumber,
  decimalOfQuotient,
  divideDecimals,
  isZero,
  MAX_PLACES,
  numberOf,
  type Decimal,
} from '../values/decimal.js'
import { integer, long } from '../values/point.js'
import { sizeOf } from '../values/size.js'
import { createValueIndex } from '../values/value-index.js'
import { isList, isQuantity, quantity, type Value } from '../values/value.js'
import { product } from './arithmetic.js'
import type { Compiler, Evaluation, NodeCompiler, NodeCompilers } from './compiler.js'
import { requiredAt } from './operators.js'

/** Aggregate functions (CQL reference, section 12) over the elements that are not null; null if there are none. */
export const AGGREGATE: NodeCompilers = {
  Count: aggregate((values) => values.length),
  Sum: overSome((values, compiler) => values.reduce((a, b) => added(a, b, compiler))),
  Product: overSome((values, compiler) => values.reduce((a, b) => product(a, b, compiler))),
  Min: overSome((values, compiler) => extremeOf(values, -1, compiler)),
  Max: overSome((values, compiler) => extremeOf(values, 1, compiler)),
  Avg: numeric((values) => quotientBy(sumOf(values), values.length)),
  Median: numeric(median),
  Mode: overSome(mode),
  Variance: numeric((values) => variance(values, values.length - 1)),
  PopulationVariance: numeric((values) => variance(values, values.length)),
  StdDev: numeric((values) => squareRoot(variance(values, values.length - 1))),
  PopulationStdDev: numeric((values) => squareRoot(variance(values, values.length))),
  GeometricMean: numeric(geometricMean),
  AllTrue: aggregate((values) => values.every((value) => value === true)),
  AnyTrue: aggregate((values) => values.includes(true)),
}

/** Aggregates the elements of the source that are not null; with a `path`, that element of each. */
function aggregate(compute: (values: readonly Value[], compiler: Compiler, evaluation: Evaluation) => Value): NodeCompiler {
  return (node, scope, compiler) => {
    const path = textAt(node, 'path')
    const slot = path === undefined ? undefined : compiler.slot()
    const source = compiler.compile(requiredAt(node, 'source'), scope)
    const element = slot === undefined ? undefined : compiler.compile(elementOf(path), { ...scope, current: slot })
    return (evaluation) => {
      const list = source(evaluation)
      const items = isList(list) ? list : []
      evaluation.spend(items.length)
      const values = items.map((item) => {
        if (slot === undefined || element === undefined) return item
        evaluation.slots[slot] = item
        return element(evaluation)
      })
      return compute(
        values.filter((value) => value !== null),
        compiler,
        evaluation,
      )
    }
  }
}

function elementOf(path: string | undefined): ElmNode {
  return { type: 'Property', path, source: { type: 'Current' } }
}

function overSome(compute: (values: readonly Value[], compiler: Compiler, evaluation: Evaluation) => Value): NodeCompiler {
  return aggregate((values, compiler, evaluation) => {
    evaluation.spend(sizeOf(values))
    return values.length === 0 ? null : compute(values, compiler, evaluation)
  })
}

/** Aggregates decimals, or quantities in the unit of the first. */
function numeric(compute: (values: readonly Decimal[]) => Decimal | undefined): NodeCompiler {
  return overSome((values, compiler) => {
    const [first = null] = values
    const unit = isQuantity(first) ? first.unit : undefined
    const amounts = values.map((value) => amountIn(value, unit, compiler))
    const known = amounts.filter((amount) => amount !== undefined)
    const result = known.length === amounts.length ? compute(known) : undefined
    if (result === undefined) return null
    return unit === undefined ? result : quantity(result, unit)
  })
}

function amountIn(value: Value, unit: string | undefined, { convert }: Compiler): Decimal | undefined {
  if (unit === undefined) return decimalOf(value)
  return isQuantity(value) ? convertQuantity(value, unit, convert)?.value : undefined
}

function added(a: Value, b: Value, { convert }: Compiler): Value {
  if (typeof a === 'number' && typeof b === 'number') return integer(a + b)
  if (typeof a === 'bigint' && typeof b === 'bigint') return long(a + b)
  if (isQuantity(a) && isQuantity(b)) {
    const other = convertQuantity(b, a.unit, convert)
    const sum = other === undefined ? undefined : addDecimals(a.value, other.value)
    return sum === undefined ? null : quantity(sum, a.unit)
  }
  const [first, second] = [decimalOf(a), decimalOf(b)]
  return first === undefined || second === undefined ? null : (addDecimals(first, second) ?? null)
}

function extremeOf(values: readonly Value[], side: -1 | 1, { convert }: Compiler): Value {
  return values.reduce((best, value) => (compare(value, best, convert) === side ? value : best))
}

function sumOf(values: readonly Decimal[]): Decimal | undefined {
  return values.reduce<Decimal | undefined>((sum, value) => (sum === undefined ? undefined : addDecimals(sum, value)), ZERO)
}

const ZERO: Decimal = { kind: 'decimal', units: 0, places: 0 }

function quotientBy(value: Decimal | undefined, count: number): Decimal | undefined {
  const divisor = decimalOfInteger(count)
  return value === undefined || divisor === undefined ? undefined : divideDecimals(value, divisor)
}

function median(values: readonly Decimal[]): Decimal | undefined {
  const sorted = values.toSorted((a, b) => (a.units < b.units ? -1 : a.units > b.units ? 1 : 0))
  const middle = Math.floor(sorted.length / 2)
  const [above, below] = [sorted[middle], sorted[middle - 1]]
  if (sorted.length % 2 === 1 || above === undefined || below === undefined) return above
  return quotientBy(addDecimals(above, below), 2)
}

function mode(values: readonly Value[], { convert }: Compiler, { spend }: Evaluation): Value {
  const seen = createValueIndex([], convert, spend)
  for (const value of values) seen.add(value)
  return seen.mostFrequent()
}

/** Computed from the exact sum of the squares and the exact square of the sum, so that it is rounded only once. */
function variance(values: readonly Decimal[], divisor: number): Decimal | undefined {
  if (divisor === 0) return undefined
  let [sum, squares] = [0n, 0n]
  for (const { units } of values) {
    const exact = BigInt(units)
    sum += exact
    squares += exact * exact
  }
  const count = BigInt(values.length)
  return decimalOfQuotient(count * squares - sum * sum, count * BigInt(divisor) * BigInt(10 ** MAX_PLACES))
}

function squareRoot(value: Decimal | undefined): Decimal | undefined {
  return value === undefined ? undefined : decimalOfNumber(Math.sqrt(numberOf(value)))
}

/** The root of the product; `undefined` for an even number of values with a negative product. */
function geometricMean(values: readonly Decimal[]): Decimal | undefined {
  const isNegative = values.filter(({ units }) => units < 0).length % 2 === 1
  if (isNegative && values.length % 2 === 0 && !values.some(isZero)) return undefined
  const logs = values.map((value) => Math.log(Math.abs(numberOf(value))))
  const size = Math.exp(logs.reduce((a, b) => a + b, 0) / values.length)
  return decimalOfNumber(isNegative ? -size : size)
}
