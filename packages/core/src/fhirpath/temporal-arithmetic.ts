import { evaluationProblem } from './problem.js'
import type { Quantity } from './quantity.js'
import { daysInMonth, epochMs, HOUR, temporalOf, type Temporal } from './temporal.js'

/** Position in a date's fields of each unit, and how long it is. UCUM's definite units count as calendar units from the week down. */
const UNITS: ReadonlyMap<string, { readonly field: number; readonly ms?: number; readonly months?: number }> = new Map([
  ['year', { field: 0, months: 12 }],
  ['month', { field: 1, months: 1 }],
  ['week', { field: 2, ms: 604_800_000 }],
  ['wk', { field: 2, ms: 604_800_000 }],
  ['day', { field: 2, ms: 86_400_000 }],
  ['d', { field: 2, ms: 86_400_000 }],
  ['hour', { field: 3, ms: 3_600_000 }],
  ['h', { field: 3, ms: 3_600_000 }],
  ['minute', { field: 4, ms: 60_000 }],
  ['min', { field: 4, ms: 60_000 }],
  ['second', { field: 5, ms: 1_000 }],
  ['s', { field: 5, ms: 1_000 }],
  ['millisecond', { field: 5, ms: 1 }],
  ['ms', { field: 5, ms: 1 }],
])

const DAYS_PER_MONTH = 30
const MS_PER_DAY = 86_400_000
const LAST_YEAR = 9_999

/**
 * Adds a duration to a date or time. Whole units count, but of seconds; the result keeps the precision of the value. `undefined` when
 * it leaves the years 1 to 9999.
 *
 * @throws {OperationError} `fhirpath-invalid` for a unit that is not a duration.
 * @see https://hl7.org/fhirpath/N1/#datetime-arithmetic
 */
export function addDuration(value: Temporal, { value: { value: amount }, unit }: Quantity): Temporal | undefined {
  const known = UNITS.get(unit)
  if (known === undefined) throw evaluationProblem(`'${unit.slice(0, 60)}' is not a unit of time to add`)
  if (value.kind === 'time') return known.ms === undefined ? undefined : timePlus(value, amount * known.ms)
  const whole = known.field < 5 ? Math.trunc(amount) : amount
  if (known.months !== undefined) return monthsLater(value, whole * known.months)
  return momentPlus(value, whole * (known.ms ?? 0))
}

function monthsLater(value: Temporal, months: number): Temporal | undefined {
  const [year = 1, month, day, ...clock] = value.fields
  const total = year * 12 + (month ?? 1) - 1 + (month === undefined ? Math.trunc(months / 12) * 12 : months)
  const [newYear, newMonth] = [Math.floor(total / 12), (total % 12) + 1]
  if (newYear < 1 || newYear > LAST_YEAR) return undefined
  if (month === undefined) return { ...value, fields: [newYear] }
  if (day === undefined) return { ...value, fields: [newYear, newMonth] }
  return { ...value, fields: [newYear, newMonth, Math.min(day, daysInMonth(newYear, newMonth)), ...clock] }
}

function momentPlus(value: Temporal, ms: number): Temporal | undefined {
  const precision = value.fields.length
  if (precision < HOUR) {
    const months = Math.trunc(ms / MS_PER_DAY / DAYS_PER_MONTH)
    return monthsLater(value, precision === 1 ? Math.trunc(ms / MS_PER_DAY / 365) * 12 : months)
  }
  const local = { kind: value.kind, fields: value.fields, fraction: value.fraction }
  const moment = new Date(epochMs(local) + ms)
  const year = moment.getUTCFullYear()
  if (!(year >= 1 && year <= LAST_YEAR)) return undefined
  const later = temporalOf(moment)
  const fraction = Math.max(value.fraction, precision === 6 && ms % 1_000 !== 0 ? 3 : 0)
  return { ...value, fields: later.fields.slice(0, precision), fraction }
}

function timePlus(value: Temporal, ms: number): Temporal {
  const [hour = 0, minute = 0, second = 0] = value.fields
  const total = (((((hour * 60 + minute) * 60 + second) * 1000 + ms) % MS_PER_DAY) + MS_PER_DAY) % MS_PER_DAY
  const fields = [Math.floor(total / 3_600_000), Math.floor(total / 60_000) % 60, (total % 60_000) / 1000]
  return { ...value, fields: fields.slice(0, value.fields.length) }
}
