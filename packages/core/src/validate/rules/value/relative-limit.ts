import { addDuration, decimalOf, temporalOf, temporalText } from '../../../fhirpath/index.js'
import { isObject, stringAt } from '../../../json/index.js'

/** The calendar units of FHIRPath for UCUM's. */
const CALENDAR: ReadonlyMap<string, string> = new Map([
  ['a', 'year'],
  ['mo', 'month'],
  ['wk', 'week'],
  ['d', 'day'],
  ['h', 'hour'],
  ['min', 'minute'],
  ['s', 'second'],
])

/** The moment that lies a duration before or after another, as dateTime; `undefined` when the quantity is not a duration in UCUM. */
export function momentFrom(moment: Date, duration: unknown, direction: 1 | -1): string | undefined {
  if (!isObject(duration)) return undefined
  const unit = CALENDAR.get(stringAt(duration, 'code') ?? '')
  const amount = duration['value']
  if (unit === undefined || typeof amount !== 'number') return undefined
  const found = addDuration(temporalOf(moment), { kind: 'quantity', value: decimalOf(direction * amount), unit })
  return found === undefined ? undefined : temporalText(found)
}
