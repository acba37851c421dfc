import { textAt, typeOf, type ElmNode } from '../elm/node.js'
import { failedEvaluation, invalidElm } from '../problem.js'
import { numberOf, addDecimals, decimalOfNumber } from '../values/decimal.js'
import { decimalOf } from '../values/compare.js'
import { integer } from '../values/point.js'
import { between, dateOf, type Unit } from '../values/temporal-arithmetic.js'
import { DAY, fieldsAt, temporalOf, type Temporal } from '../values/temporal.js'
import { isTemporal, type Value } from '../values/value.js'
import { uncertain } from './arithmetic.js'
import type { NodeCompiler, NodeCompilers } from './compiler.js'
import { binary, optionalAt, precisionAt, unary } from './operators.js'

const DATE_FIELDS = ['year', 'month', 'day'] as const
const TIME_FIELDS = ['hour', 'minute', 'second', 'millisecond'] as const

/** Date and time operators (CQL reference, section 8) and selectors. */
export const TEMPORAL: NodeCompilers = {
  Date: selector('date', DATE_FIELDS),
  DateTime: selector('dateTime', [...DATE_FIELDS, ...TIME_FIELDS]),
  Time: selector('time', TIME_FIELDS),
  Now: () => (evaluation) => evaluation.now,
  Today: () => (evaluation) => dateOf(evaluation.now) ?? null,
  TimeOfDay: () => (evaluation) => temporalOf('time', evaluation.now.fields.slice(DAY + 1)) ?? null,
  DateFrom: unary((value) => (isTemporal(value) ? (dateOf(value) ?? null) : null)),
  TimeFrom: unary((value) =>
    isTemporal(value) && value.precision > DAY ? (temporalOf('time', value.fields.slice(DAY + 1, value.precision + 1)) ?? null) : null,
  ),
  TimezoneOffsetFrom: unary((value) => (isTemporal(value) && value.kind === 'dateTime' ? hours(value.offset) : null)),
  TimezoneFrom: unary((value) => (isTemporal(value) && value.kind === 'dateTime' ? hours(value.offset) : null)),
  DateTimeComponentFrom: unary((value, _, node) => component(value, node)),
  DurationBetween: binary((left, right, _, node) => periods(left, right, node, 'duration')),
  DifferenceBetween: binary((left, right, _, node) => periods(left, right, node, 'difference')),
}

/** In minutes. */
const MAX_OFFSET = 14 * 60

function selector(kind: Temporal['kind'], names: readonly string[]): NodeCompiler {
  return (node, scope, compiler) => {
    const parts = names.map((name) => optionalAt(node, name, scope, compiler))
    const zone = optionalAt(node, 'timezoneOffset', scope, compiler)
    return (evaluation) => {
      const values = parts.map((part) => part(evaluation))
      evaluation.spend(1)
      const missing = values.indexOf(null)
      const given = (missing < 0 ? values : values.slice(0, missing)).map(Number)
      const finer = missing < 0 ? undefined : names[values.findIndex((value, index) => index > missing && value !== null)]
      if (finer !== undefined)
        throw failedEvaluation(`${typeOf(node)} has ${withArticle(finer)} without ${withArticle(names[given.length])}.`, node)
      if (given.length === 0) return null
      const hoursFromUtc = kind === 'dateTime' ? decimalOf(zone(evaluation)) : undefined
      const offset = hoursFromUtc === undefined ? evaluation.offset : Math.round(numberOf(hoursFromUtc) * 60)
      if (Math.abs(offset) > MAX_OFFSET) throw failedEvaluation('An offset must be from -14 to 14 hours.', node)
      const made = temporalOf(kind, given, kind === 'dateTime' ? offset : 0)
      if (made === undefined) throw failedEvaluation(`${typeOf(node)}(${given.join(', ')}) does not exist.`, node)
      return made
    }
  }
}

function withArticle(name = ''): string {
  return `${name === 'hour' ? 'an' : 'a'} ${name}`
}

/** An offset in hours as a Decimal. */
function hours(offset: number): Value {
  const value = decimalOfNumber(offset / 60)
  return value === undefined ? null : (addDecimals(value, { kind: 'decimal', units: 0, places: 1 }) ?? null)
}

function component(value: Value, node: ElmNode): Value {
  const precision = precisionAt(node)
  if (precision === undefined) throw invalidElm(node, `${typeOf(node)} names no component.`)
  return isTemporal(value) && precision <= value.precision ? (value.fields[precision] ?? null) : null
}

const UNITS: readonly Unit[] = ['year', 'month', 'week', 'day', 'hour', 'minute', 'second', 'millisecond']

/** The unit that a node names as its precision. */
export function unitAt(node: ElmNode): Unit {
  const name = textAt(node, 'precision')?.toLowerCase()
  const unit = UNITS.find((known) => known === name)
  if (unit === undefined) throw invalidElm(node, `${typeOf(node)} names no unit.`)
  return unit
}

function periods(left: Value, right: Value, node: ElmNode, what: 'duration' | 'difference'): Value {
  return isTemporal(left) && isTemporal(right) ? periodsBetween(left, right, unitAt(node), what) : null
}

/** Number of periods between two dates: an Integer, or an uncertain one. */
export function periodsBetween(from: Temporal, to: Temporal, unit: Unit, what: 'duration' | 'difference'): Value {
  const range = between(from, to, unit, what)
  if (range === undefined) return null
  const [low, high] = range
  return uncertain(integer(low), integer(high))
}

/** The value of `Now()` at an offset in minutes. */
export function momentAt(date: Date, offset: number): Temporal {
  const now = temporalOf('dateTime', fieldsAt(date.getTime(), offset), offset)
  if (now === undefined) throw failedEvaluation('The clock is outside of the years 1 to 9999.')
  return now
}
