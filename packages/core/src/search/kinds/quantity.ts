import { isObject, objectAt, stringAt, type JsonObject } from '../../json/index.js'
import type { Comparison } from '../../storage/index.js'
import { escaped, splitUnescaped, unescaped, ALL_NUMBERS, type Interval } from '../written-values.js'
import { boundsOnly, invalidValue, textFields, type Alternatives, type Ask, type EntryFields, type SearchKind } from './kind.js'
import { numberTests, rangeBounds } from './number.js'
import { codedBounds } from './token.js'

const CURRENCIES = 'urn:iso:std:iso:4217'

export const quantityKind: SearchKind = {
  name: 'quantity',
  fields: quantityFields,
  modifiers: [],
  negatable: false,
  alternatives: (ask) => {
    const { numbers, code, system } = quantityTests(ask)
    const unit: readonly Comparison[] = [
      ...(code === undefined ? [] : [{ field: 'value', op: 'eq', operand: code } as const]),
      ...(system === undefined ? [] : [{ field: 'system', op: 'eq', operand: system } as const]),
    ]
    return numbers.map((test) => [...test, ...unit])
  },
  sortField: (descending) => (descending ? 'high' : 'low'),
  tuple: {
    second: {
      fields: (fields) => {
        const coded = codedBounds(fields)
        return coded.length === 0 ? [boundsOnly(fields)] : coded
      },
      alternatives: quantityTailTests,
    },
  },
}

/** The comparisons of a search for a quantity. */
interface QuantityTests {
  readonly numbers: Alternatives
  readonly code: string | undefined
  readonly system: string | undefined
}

/** Parses `number`, `number|system|code` and `number||code`. */
function quantityTests(ask: Ask): QuantityTests {
  const [number = '', system = '', code = '', extra] = splitUnescaped(ask.value, '|').map(unescaped)
  if (extra !== undefined || (system !== '' && code === ''))
    throw invalidValue(ask, 'a quantity (number, number|system|code or number||code)')
  return { numbers: numberTests(ask, number), code: code || undefined, system: system || undefined }
}

/** Creates the comparisons of a quantity as second component of a tuple, where its unit is in `text`. */
function quantityTailTests(ask: Ask): Alternatives {
  const { numbers, code, system } = quantityTests(ask)
  if (code === undefined) return numbers
  const operand = system === undefined ? escaped(code) : `${escaped(system)}|${escaped(code)}`
  return numbers.map((test) => [...test, { field: 'text', op: 'eq', operand }])
}

/** Creates the entries of a Quantity (Age, Count, Distance, Duration, SimpleQuantity), Money or Range. */
function quantityFields(value: unknown): readonly EntryFields[] {
  if (!isObject(value)) return []
  const low = objectAt(value, 'low')
  const high = objectAt(value, 'high')
  const isRange = low !== undefined || high !== undefined
  const bounds = isRange ? rangeBounds(low?.['value'], high?.['value']) : boundsOf(value)
  return bounds === undefined ? [] : unitsOf((isRange ? (low ?? high) : value) ?? {}).map((unit) => ({ ...unit, ...bounds }))
}

function boundsOf(quantity: JsonObject): Interval | undefined {
  const value = quantity['value']
  if (typeof value !== 'number') return undefined
  const comparator = stringAt(quantity, 'comparator') ?? ''
  return {
    low: comparator.startsWith('<') ? ALL_NUMBERS.low : value,
    high: comparator.startsWith('>') ? ALL_NUMBERS.high : value,
  }
}

/** Returns the unit by its code and, if different, by its text. */
function unitsOf(quantity: JsonObject): readonly EntryFields[] {
  const currency = stringAt(quantity, 'currency')
  if (currency !== undefined) return [{ system: CURRENCIES, value: currency }]
  const system = stringAt(quantity, 'system')
  const code = stringAt(quantity, 'code')
  const text = stringAt(quantity, 'unit')
  const coded = textFields(system, code)
  return text === undefined || text === code ? [coded] : [coded, { value: text }]
}
