import type { FhirNode, UnitConversion } from '../../../fhirpath/index.js'
import { isObject, stringAt, type JsonObject } from '../../../json/index.js'
import { convertUnit } from '../../../ucum/index.js'
import type { ElementRule, LimitRule } from '../../profile/element-rule.js'
import { numberTextOf } from '../../walk/number-text.js'
import type { Run } from '../../walk/run.js'
import { momentFrom } from './relative-limit.js'

/** Checks length, decimal places, minimum and maximum of a value. */
export function checkLimits(run: Run, node: FhirNode, rule: ElementRule): void {
  const { min, max } = rule.value
  const least = min && limitFor(node, min, { run, direction: -1 })
  const most = max && limitFor(node, max, { run, direction: 1 })
  const tooLow = least !== undefined && order(run, node, least) < 0 ? `The value must be at least ${shown(least)}.` : undefined
  const tooHigh = most !== undefined && order(run, node, most) > 0 ? `The value must be at most ${shown(most)}.` : undefined
  for (const text of [lengthProblem(node, rule), placesProblem(run, node, rule), tooLow, tooHigh]) {
    if (text !== undefined) run.sink.report('value-limit', node, { text, profile: rule.profile })
  }
}

const MOMENTS: ReadonlySet<string> = new Set(['date', 'dateTime', 'instant'])
const DURATIONS: ReadonlySet<string> = new Set(['Duration', 'Quantity'])

/** What to compare a value with; `undefined` when the limit is of a type that says nothing about it. */
function limitFor({ type }: FhirNode, limit: LimitRule, { run, direction }: { run: Run; direction: 1 | -1 }): unknown {
  if (MOMENTS.has(type.name) && DURATIONS.has(limit.type)) return momentFrom(run.now, limit.value, direction)
  return type.name.toLowerCase() === limit.type.toLowerCase() ? limit.value : undefined
}

/** Zero also where the value cannot be compared with the limit. */
function order(run: Run, { value }: FhirNode, limit: unknown): number {
  return compareValues(value, limit, run.convertUnit) ?? 0
}

function lengthProblem({ value }: FhirNode, { value: { maxLength, minLength } }: ElementRule): string | undefined {
  if (typeof value !== 'string') return undefined
  if (maxLength !== undefined && value.length > maxLength)
    return `The text has ${value.length} characters, but at most ${maxLength} are allowed.`
  if (minLength !== undefined && value.length < minLength)
    return `The text has ${value.length} characters, but at least ${minLength} are needed.`
  return undefined
}

function placesProblem(run: Run, node: FhirNode, { value: { maxDecimalPlaces } }: ElementRule): string | undefined {
  if (maxDecimalPlaces === undefined || typeof node.value !== 'number') return undefined
  const places = decimalPlaces(numberTextOf(run, node, node.value))
  return places > maxDecimalPlaces ? `The number has ${places} decimal places, but at most ${maxDecimalPlaces} are allowed.` : undefined
}

/** Decimal places of a number as it was written. */
export function decimalPlaces(text: string): number {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e')
  const point = mantissa.indexOf('.')
  return Math.max(0, (point < 0 ? 0 : mantissa.length - point - 1) - Number(exponent))
}

/** Negative, zero or positive; `undefined` when the two cannot be compared. Dates are compared as far as both go. */
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
  if (a.includes('T') && b.includes('T')) return Date.parse(a) - Date.parse(b)
  const length = Math.min(a.split('T', 1)[0]?.length ?? 0, b.split('T', 1)[0]?.length ?? 0)
  return a.slice(0, length).localeCompare(b.slice(0, length), 'en')
}

function shown(value: unknown): string {
  if (!isObject(value)) return String(value)
  return `${String(value['value'])} ${stringAt(value, 'unit') ?? stringAt(value, 'code') ?? ''}`.trim()
}
