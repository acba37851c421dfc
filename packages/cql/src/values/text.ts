import { checkWhole } from '../data/trimmed.js'
import { decimalText, shortDecimalText } from './decimal.js'
import { DAY, temporalText, type Temporal } from './temporal.js'
import { calendarUnit } from 'fhir-ops/internal/fhirpath'
import {
  isList,
  isQuantity,
  isRatio,
  isTemporal,
  kindOf,
  type Code,
  type Interval,
  type Quantity,
  type Tuple,
  type Value,
} from './value.js'

/** Writes a value as a CQL literal or selector that evaluates to the same value. */
export function literalText(value: Value): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return stringText(value)
  if (typeof value === 'bigint') return `${value}L`
  if (typeof value !== 'object') return String(value)
  if (isList(value)) return value.length === 0 ? '{}' : `{ ${value.map(literalText).join(', ')} }`
  return isTemporal(value) ? momentText(value) : objectText(value)
}

/** Writes a date as `@...`; a date and time without a time ends in `T`, and a time begins with `@T`. */
function momentText(value: Temporal): string {
  if (value.kind === 'time') return `@T${temporalText(value)}`
  return `@${temporalText(value)}${value.kind === 'dateTime' && value.precision <= DAY ? 'T' : ''}`
}

type OtherValue = Exclude<Value, null | boolean | number | bigint | string | readonly Value[] | Temporal>

function objectText(value: OtherValue): string {
  switch (value.kind) {
    case 'decimal':
      return decimalText(value)
    case 'quantity':
      return quantityText(value)
    case 'ratio':
      return `${literalText(value.numerator)}:${literalText(value.denominator)}`
    case 'interval':
      return intervalText(value)
    case 'code':
      return codeText(value)
    case 'concept':
      return `Concept { codes: ${literalText(value.codes)}${value.display === null ? '' : `, display: ${stringText(value.display)}`} }`
    case 'tuple':
      return tupleText(value)
    case 'fhir':
      checkWhole(value.json)
      return `${value.type.name} ${JSON.stringify(value.json)}`
    default:
      return `${value.kind === 'valueSet' ? 'ValueSet' : 'CodeSystem'} { id: ${stringText(value.id)} }`
  }
}

function tupleText({ elements }: Tuple): string {
  if (elements.size === 0) return 'Tuple { : }'
  return `Tuple { ${[...elements].map(([name, element]) => `${name}: ${literalText(element)}`).join(', ')} }`
}

/** The result of `ToString`; `undefined` for values without a string form. */
export function plainTextOf(value: Value): string | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number' || typeof value === 'bigint')
    return String(value)
  if (isQuantity(value)) return plainQuantity(value)
  if (isRatio(value)) return `${plainQuantity(value.numerator)}:${plainQuantity(value.denominator)}`
  switch (kindOf(value)) {
    case 'decimal':
      return literalText(value)
    case 'date':
    case 'dateTime':
    case 'time':
      return literalText(value).replace(/^@T?|T$/g, '')
    default:
      return undefined
  }
}

/** A quantity as `ToString` writes it: `125 'cm'`. */
function plainQuantity(amount: Quantity | null): string {
  if (amount === null) return 'null'
  const number = amount.value.places === 0 ? shortDecimalText(amount.value) : decimalText(amount.value)
  return `${number} ${stringText(amount.unit)}`
}

function quantityText({ value, unit }: Quantity): string {
  const calendar = calendarUnit(unit)
  const number = decimalText(value)
  return calendar === undefined ? `${number} ${stringText(unit)}` : `${number} ${unit}`
}

function intervalText({ low, high, lowClosed, highClosed }: Interval): string {
  return `Interval${lowClosed ? '[' : '('}${literalText(low)}, ${literalText(high)}${highClosed ? ']' : ')'}`
}

function codeText({ code, system, version, display }: Code): string {
  const members = Object.entries({ code, system, version, display }).flatMap(([name, text]) =>
    text === null ? [] : [`${name}: ${stringText(text)}`],
  )
  return `Code { ${members.join(', ')} }`
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\\', '\\\\'],
  ["'", "\\'"],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\f', '\\f'],
])

function stringText(text: string): string {
  return `'${text.replace(/[\\'\n\r\t\f]/g, (character) => ESCAPES.get(character) ?? character)}'`
}
