import { OperationError, quoted } from '../../../errors/index.js'
import {
  addDuration,
  CALENDAR_OF_UCUM,
  decimalOf,
  temporalOf,
  temporalText,
  type FhirNode,
  type UnitConversion,
} from '../../../fhirpath/index.js'
import { isObject, stringAt, type JsonObject, shownJson } from '../../../json/index.js'
import { convertUnit } from '../../../ucum/index.js'
import type { ElementRule, LimitRule } from '../../run/element-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, numberTextOf } from '../../run/nodes.js'
import type { DemandRule, Run } from '../../run/run.js'
import { charactersIn } from '../primitive/text.js'
import { base64Length } from '../primitive/number-and-bytes.js'

const VALUE_LIMIT: FindingDefinition = defineFinding('value-limit', 'error', 'invalid', 'Use a value within the limits of the element.')

const LIMITS = ['min', 'max', 'maxLength', 'minLength', 'maxDecimalPlaces', 'maxSize', 'regex', 'units'] as const

/** Limits: length, format, size, decimal places, units, minimum and maximum of a value. */
export const limitRule: DemandRule = {
  name: 'limit',
  finds: [VALUE_LIMIT],
  appliesTo: ({ value }) => LIMITS.some((limit) => value[limit] !== undefined),
  checkBy: (rules) => (run, node) => {
    for (const rule of rules) checkLimits(run, node, rule)
  },
}

function checkLimits(run: Run, node: FhirNode, rule: ElementRule): void {
  const { min, max } = rule.value
  const problems = [
    lengthProblem(node, rule),
    formProblem(run, node, rule),
    sizeProblem(node, rule),
    placesProblem(run, node, rule),
    unitProblem(node, rule),
    min && boundProblem(run, node, { limit: min, direction: -1 }),
    max && boundProblem(run, node, { limit: max, direction: 1 }),
  ]
  for (const problem of problems) if (problem !== undefined) run.findings.report(VALUE_LIMIT, node, { ...problem, profile: rule.profile })
}

const MOMENTS: ReadonlySet<string> = new Set(['date', 'dateTime', 'instant'])
const DURATIONS: ReadonlySet<string> = new Set(['Duration', 'Quantity'])

interface LimitBound {
  readonly limit: LimitRule
  readonly direction: 1 | -1
}

function boundProblem(run: Run, node: FhirNode, { limit, direction }: LimitBound): LimitProblem | undefined {
  if (isObject(node.value) && isObject(limit.value))
    return quantityProblem({ quantity: node.value, limit: limit.value, direction }, run.convertUnit)
  const unusable = limitFault(node, limit)
  if (unusable !== undefined) return unusable
  const bound = limitFor(node, limit, { run, direction })
  if (bound === undefined || (compareValues(node.value, bound) ?? 0) * direction <= 0) return undefined
  return { text: `The value is ${direction < 0 ? 'less than the specified minimum' : 'more than the specified maximum'} value (${bound}).` }
}

/** The problem with a limit for values of a type. */
function limitFault({ type, value }: FhirNode, limit: LimitRule): LimitProblem | undefined {
  if (isObject(value) && type.name === 'Quantity') return { text: `The limit of a Quantity must be a Quantity, not a ${limit.type}.` }
  if (!MOMENTS.has(type.name) || !DURATIONS.has(limit.type) || !isObject(limit.value)) return undefined
  if (limit.value['comparator'] !== undefined) return { text: 'A limit of dates and times by a Duration must not have a comparator.' }
  const unit = calendarUnit(limit.value)
  if (unit === undefined) return { text: 'A limit of dates and times by a Duration must have a unit of time of UCUM.' }
  return Number.isInteger(limit.value['value']) || (typeof limit.value['value'] === 'number' && !WHOLE.has(unit))
    ? undefined
    : { text: `A limit of dates and times by a Duration must be a whole number of ${unit}s.` }
}

/** The value to compare with; `undefined` when the type of the limit does not apply to the value. */
function limitFor(
  { type, value }: FhirNode,
  limit: LimitRule,
  { run, direction }: { run: Run; direction: 1 | -1 },
): string | number | undefined {
  if (MOMENTS.has(type.name) && DURATIONS.has(limit.type)) return momentFrom(run.now, limit.value, direction)
  const isOfKind = typeof value === 'number' || type.name.toLowerCase() === limit.type.toLowerCase() || MOMENTS.has(type.name)
  return isOfKind && typeof limit.value === typeof value && isScalar(limit.value) ? limit.value : undefined
}

function isScalar(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}

function lengthProblem({ value }: FhirNode, { value: { maxLength, minLength } }: ElementRule): LimitProblem | undefined {
  if (typeof value !== 'string' || (maxLength === undefined && minLength === undefined)) return undefined
  const length = charactersIn(value)
  if (maxLength !== undefined && length > maxLength)
    return { text: `The text has ${length} characters, but the maximum length is ${maxLength}.` }
  if (minLength !== undefined && length < minLength)
    return { text: `The text has ${length} characters, but the minimum length is ${minLength}.` }
  return undefined
}

function formProblem(run: Run, { value }: FhirNode, { value: { regex } }: ElementRule): LimitProblem | undefined {
  if (regex === undefined || !isScalar(value)) return undefined
  return hasForm(run, shownJson(value), regex) ? undefined : { text: `The value does not match the regular expression ${quoted(regex)}.` }
}

function sizeProblem({ value, type }: FhirNode, { value: { maxSize } }: ElementRule): LimitProblem | undefined {
  const size = type.name === 'base64Binary' && typeof value === 'string' ? base64Length(value) : isObject(value) ? sizeOf(value) : undefined
  if (maxSize === undefined || size === undefined || size <= maxSize) return undefined
  return { text: `The content has ${size} bytes, but the maximum size is ${maxSize}.`, code: 'structure' }
}

/** The size of an Attachment, if it is known here. */
function sizeOf(attachment: JsonObject): number | undefined {
  const data = stringAt(attachment, 'data')
  const { size } = attachment
  if (data !== undefined) return base64Length(data)
  return typeof size === 'number' ? size : undefined
}

function placesProblem(run: Run, node: FhirNode, { value: { maxDecimalPlaces } }: ElementRule): LimitProblem | undefined {
  const [number] = typeof node.value === 'number' ? [node] : isObject(node.value) ? childrenOf(run, node, 'value') : []
  if (maxDecimalPlaces === undefined || number === undefined || typeof number.value !== 'number') return undefined
  const places = decimalPlaces(numberTextOf(run, number, number.value))
  if (places <= maxDecimalPlaces) return undefined
  return { text: `The number has ${places} decimal places, but the maximum is ${maxDecimalPlaces}.`, code: 'structure' }
}

function unitProblem({ value }: FhirNode, { value: { units } }: ElementRule): LimitProblem | undefined {
  if (units === undefined || !isObject(value) || units.some((unit) => unit['code'] === value['code'] && unit['system'] === value['system']))
    return undefined
  const names = units.map((unit) => quoted(stringAt(unit, 'display') ?? stringAt(unit, 'code') ?? ''))
  return { text: `The unit is not allowed here; allowed units: ${names.join(', ')}.` }
}

/** Decimal places of a number as it was written. */
export function decimalPlaces(text: string): number {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e')
  const point = mantissa.indexOf('.')
  return Math.max(0, (point < 0 ? 0 : mantissa.length - point - 1) - Number(exponent))
}

/** Compares two values: negative, zero or positive; `undefined` when they cannot be compared. Dates are compared as far as both are precise. */
export function compareValues(a: unknown, b: unknown, convert: UnitConversion = convertUnit): number | undefined {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a === 'string' && typeof b === 'string') return compareTimes(a, b)
  return isObject(a) && isObject(b) ? compareQuantities(a, b, convert) : undefined
}

function compareQuantities(a: JsonObject, b: JsonObject, convert: UnitConversion): number | undefined {
  const [left, right] = [a['value'], b['value']]
  const factor = a['system'] === b['system'] ? convert(unitOf(a), unitOf(b)) : undefined
  return typeof left === 'number' && typeof right === 'number' && factor !== undefined ? left * factor - right : undefined
}

function unitOf(quantity: JsonObject): string {
  return stringAt(quantity, 'code') ?? stringAt(quantity, 'unit') ?? '1'
}

function compareTimes(a: string, b: string): number | undefined {
  if (a.includes('T') && b.includes('T')) {
    const difference = momentOf(a) - momentOf(b)
    return Number.isNaN(difference) ? undefined : difference
  }
  const length = Math.min(a.split('T', 1)[0]?.length ?? 0, b.split('T', 1)[0]?.length ?? 0)
  return a.slice(0, length).localeCompare(b.slice(0, length), 'en')
}

/** The milliseconds of a date with time; NaN for a text of another form. JavaScript reads no leap seconds. */
function momentOf(text: string): number {
  const regular = text.replace(/:60(?=[.Z+-])/, ':59')
  return Date.parse(regular) + (regular === text ? 0 : 1_000)
}

/** Whether the whole text matches the regular expression of a definition. An expression that cannot be used, or takes too long, restricts nothing. */
export function hasForm({ definitions }: Run, text: string, pattern: string): boolean {
  try {
    return definitions.pattern(pattern)?.matchesWhole(text) !== false
  } catch (error) {
    if (error instanceof OperationError) return true
    throw error
  }
}

/** Units of varying length, of which a fraction has no certain length, and the smallest unit. */
const WHOLE: ReadonlySet<string> = new Set(['year', 'month', 'millisecond'])

/** The moment a duration before or after another one, as dateTime; `undefined` when the quantity is not a duration in UCUM. */
function momentFrom(moment: Date, duration: unknown, direction: 1 | -1): string | undefined {
  if (!isObject(duration)) return undefined
  const unit = calendarUnit(duration)
  const amount = duration['value']
  if (unit === undefined || typeof amount !== 'number') return undefined
  const found = addDuration(temporalOf(moment), { kind: 'quantity', value: decimalOf(direction * amount), unit })
  return found === undefined ? undefined : temporalText(found)
}

function calendarUnit(duration: JsonObject): string | undefined {
  return duration['system'] === UCUM ? CALENDAR_OF_UCUM.get(stringAt(duration, 'code') ?? '') : undefined
}

/** The system of units that limits are compared in. */
const UCUM = 'http://unitsofmeasure.org'

/** A Quantity and its minimum (-1) or maximum (1). */
interface LimitedQuantity {
  readonly quantity: JsonObject
  readonly limit: JsonObject
  readonly direction: 1 | -1
}

/** A problem with a value; a warning if it only cannot be decided. */
interface LimitProblem {
  readonly text: string
  readonly severity?: 'warning'
  readonly code?: 'structure'
}

/** The problem of a Quantity with a limit. Their units decide whether they can be compared: both need the same system and a code, in UCUM of one kind. */
function quantityProblem({ quantity, limit, direction }: LimitedQuantity, convert: UnitConversion): LimitProblem | undefined {
  const [value, bound] = [quantity['value'], limit['value']]
  const name = direction < 0 ? 'minimum' : 'maximum'
  if (typeof value !== 'number') return { text: `The quantity has no value, so the ${name} cannot be checked.`, severity: 'warning' }
  const obstacle = obstacleTo(quantity, limit)
  if (obstacle !== undefined) return { text: `The value cannot be compared with the ${name}: ${obstacle}.`, severity: 'warning' }
  if (typeof bound !== 'number') return { text: `The ${name} of the profile has no value.` }
  const factor = convert(stringAt(quantity, 'code') ?? '', stringAt(limit, 'code') ?? '')
  if (factor === undefined)
    return { text: `The value cannot be compared with the ${name}: its unit cannot be converted into ${shown(limit)}.` }
  if ((value * factor - bound) * direction <= 0) return undefined
  return {
    text: `The value is ${direction < 0 ? 'less than the specified minimum' : 'more than the specified maximum'} value (${shown(limit)}).`,
  }
}

function obstacleTo(quantity: JsonObject, limit: JsonObject): string | undefined {
  for (const member of ['system', 'code'] as const) {
    const missing = [quantity, limit].findIndex((one) => stringAt(one, member) === undefined)
    if (missing >= 0) return `${missing === 0 ? 'it' : 'that'} has no ${member} of the unit`
  }
  if (quantity['system'] !== limit['system']) return 'the units are of different systems'
  return quantity['system'] !== UCUM && quantity['code'] !== limit['code'] ? 'the units differ' : undefined
}

function shown(limit: JsonObject): string {
  return `${shownJson(limit['value'])} ${stringAt(limit, 'unit') ?? stringAt(limit, 'code') ?? ''}`.trim()
}
