import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import type { Parameter } from 'fhir-ops/internal/parameters'
import { keepFhirForm } from '../libraries/declared.js'
import { decimalOfNumber } from '../values/decimal.js'
import { closedInterval, isValidInterval } from '../values/interval.js'
import { parseDateTime, parseTime } from '../values/temporal.js'
import { ABSENT, EMPTY_LIST, EMPTY_TUPLE } from '../results/parameters.js'
import { isInterval, isList, isTuple, kindOf, quantity, type Code, type Interval, type Quantity, type Value } from '../values/value.js'

/**
 * Reads the values of CQL parameters from a Parameters resource (Using CQL with FHIR, requirement 4.3). A repeated name becomes a list.
 *
 * @throws {OperationError} `parameter-value` for a type that cannot be converted.
 */
export function readCqlParameters(parameters: readonly Parameter[], offset: number): ReadonlyMap<string, Value> {
  const values = new Map<string, Value>()
  const repeated = new Map<string, Value[]>()
  for (const parameter of parameters) {
    const value = valueOf(parameter, offset)
    const list = repeated.get(parameter.name)
    if (list === undefined) repeated.set(parameter.name, [value])
    else list.push(value)
  }
  for (const [name, list] of repeated) values.set(name, list.length === 1 ? (list[0] ?? null) : list)
  return values
}

function valueOf(parameter: Parameter, offset: number): Value {
  const { value, type, extra, expression, parts } = parameter
  const read = parts.length > 0 ? partsValue(parts, offset) : value === undefined ? statedValue(extra) : readable(value, type, offset)
  if (read === undefined)
    throw new OperationError('parameter-value', `The parameter ${quoted(parameter.name)} has a value that is not a value of CQL.`, {
      expression: [expression],
    })
  return read
}

/** The value that extensions describe if there is none, as in results: null, or an empty list or tuple. */
function statedValue(extra: Parameter['extra']): Value | undefined {
  const { extension } = extra ?? {}
  const urls = (Array.isArray(extension) ? extension : []).filter(isRecord).map(({ url }) => url)
  if (urls.includes(EMPTY_LIST)) return []
  if (urls.includes(EMPTY_TUPLE)) return { kind: 'tuple', elements: new Map() }
  return urls.includes(ABSENT) ? null : undefined
}

/** Reads parts: the items of a list within a list if all are named `element`, otherwise the elements of a tuple. */
function partsValue(parts: readonly Parameter[], offset: number): Value {
  if (parts.every(({ name }) => name === 'element')) return parts.map((part) => valueOf(part, offset))
  return { kind: 'tuple', elements: readCqlParameters(parts, offset) }
}

function readable(json: unknown, type: string | undefined, offset: number): Value | undefined {
  const value = systemValue(json, type, offset)
  if (typeof value === 'object' && value !== null && type !== undefined) keepFhirForm(value, { type, json })
  return value
}

function systemValue(value: unknown, type: string | undefined, offset: number): Value | undefined {
  if (typeof value === 'boolean') return value
  if (typeof value === 'number') return type === 'Decimal' ? decimalOfNumber(value) : value
  if (typeof value === 'string') return textValue(value, type, offset)
  return isRecord(value) ? objectValue(value, type, offset) : undefined
}

function textValue(value: string, type: string | undefined, offset: number): Value | undefined {
  if (type === 'Date') return parseDateTime(value, 0, 'date')
  if (type === 'DateTime' || type === 'Instant') return parseDateTime(value, offset)
  return type === 'Time' ? parseTime(value) : value
}

function objectValue(value: Readonly<Record<string, unknown>>, type: string | undefined, offset: number): Value | undefined {
  switch (type) {
    case 'Quantity':
      return quantityOf(value)
    case 'Coding':
      return codeOf(value)
    case 'CodeableConcept':
      return {
        kind: 'concept',
        codes: (Array.isArray(value['coding']) ? value['coding'] : []).filter(isRecord).map(codeOf),
        display: textOf(value['text']),
      }
    case 'Period':
      return ordered(closedInterval(momentOf(value['start'], offset), momentOf(value['end'], offset), 'DateTime'))
    case 'Ratio':
      return { kind: 'ratio', numerator: amountOf(value['numerator']), denominator: amountOf(value['denominator']) }
    case 'Range':
      return ordered(closedInterval(amountOf(value['low']), amountOf(value['high']), 'Quantity'))
    default:
      return undefined
  }
}

/** The interval; `undefined` if it ends before it starts, which no interval of CQL does. Bounds in different units are not compared. */
function ordered(interval: Interval): Interval | undefined {
  return isValidInterval(interval, () => undefined) ? interval : undefined
}

/** Reads a quantity; `undefined` if it has a comparator, because its value is then not known. */
function quantityOf(value: Readonly<Record<string, unknown>>): Quantity | undefined {
  if (value['comparator'] !== undefined) return undefined
  const amount = typeof value['value'] === 'number' ? decimalOfNumber(value['value']) : undefined
  return amount === undefined ? undefined : quantity(amount, textOf(value['code']) ?? textOf(value['unit']) ?? '1')
}

function codeOf(value: Readonly<Record<string, unknown>>): Code {
  return {
    kind: 'code',
    code: textOf(value['code']),
    system: textOf(value['system']),
    version: textOf(value['version']),
    display: textOf(value['display']),
  }
}

function momentOf(value: unknown, offset: number): Value {
  return typeof value === 'string' ? (parseDateTime(value, offset) ?? null) : null
}

function amountOf(value: unknown): Quantity | null {
  return isRecord(value) ? (quantityOf(value) ?? null) : null
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Names that can be written in quotes without escaping. */
const PLAIN_NAME = /^[^"\\\p{Cc}]{1,200}$/u

/** Declares the parameters that a call gives to an expression, with the types of their values. Values whose type is not evident are left out. */
export function parameterDeclarations(given: ReadonlyMap<string, Value>): string {
  return [...given].map(([name, value]) => declaration(name, value)).join('')
}

function declaration(name: string, value: Value): string {
  const type = value === null ? 'System.Any' : typeText(value)
  return type === undefined || !PLAIN_NAME.test(name) ? '' : `parameter "${name}" ${type}\n`
}

const SIMPLE: ReadonlyMap<string, string> = new Map([
  ['boolean', 'Boolean'],
  ['integer', 'Integer'],
  ['long', 'Long'],
  ['string', 'String'],
  ['decimal', 'Decimal'],
  ['date', 'Date'],
  ['dateTime', 'DateTime'],
  ['time', 'Time'],
  ['quantity', 'Quantity'],
  ['ratio', 'Ratio'],
  ['code', 'Code'],
  ['concept', 'Concept'],
])

/** The type of a value in CQL syntax; `undefined` for null, lists of several types and FHIR elements. */
function typeText(value: Value): string | undefined {
  if (isList(value)) return listType(value)
  if (isInterval(value)) return value.pointType === undefined ? undefined : `Interval<${value.pointType}>`
  if (!isTuple(value)) return SIMPLE.get(kindOf(value))
  const elements = [...value.elements].map(([name, element]) => [name, typeText(element)] as const)
  if (elements.length === 0 || elements.some(([name, type]) => type === undefined || !PLAIN_NAME.test(name))) return undefined
  return `Tuple { ${elements.map(([name, type]) => `"${name}" ${type}`).join(', ')} }`
}

function listType(items: readonly Value[]): string | undefined {
  const [first, ...others] = new Set(items.filter((item) => item !== null).map(typeText))
  return first === undefined || others.length > 0 ? undefined : `List<${first}>`
}
