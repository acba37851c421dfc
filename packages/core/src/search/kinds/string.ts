import { isObject, isString } from '../../json/index.js'
import { unescaped } from '../written-values.js'
import { fold } from '../../text/index.js'
import { invalidValue, type Ask, type EntryFields, type SearchKind } from './kind.js'

/** Parts of HumanName and of Address. */
const PARTS = ['text', 'family', 'given', 'prefix', 'suffix', 'line', 'city', 'district', 'state', 'postalCode', 'country'] as const

export const stringKind: SearchKind = {
  name: 'string',
  fields: (value) => textsIn(value).map(stringFields),
  modifiers: ['exact', 'contains'],
  negatable: false,
  alternatives(ask) {
    if (ask.modifier === 'exact') return [[{ field: 'value', op: 'eq', operand: unescaped(ask.value) }]]
    return [[{ field: 'text', op: ask.modifier === 'contains' ? 'contains' : 'prefix', operand: foldedText(ask) }]]
  },
  sortField: () => 'text',
  tuple: {
    second: {
      fields: ({ text }) => (text === undefined ? [] : [{ text }]),
      alternatives: (ask) => [[{ field: 'text', op: 'prefix', operand: foldedText(ask) }]],
    },
  },
}

/** Returns the folded text of a value. @throws {OperationError} `search-invalid` for an empty text, which would match everything. */
export function foldedText(ask: Ask): string {
  const text = fold(unescaped(ask.value))
  if (text === '') throw invalidValue(ask, 'a text')
  return text
}

function stringFields(text: string): EntryFields {
  return { value: text, text: fold(text) }
}

function textsIn(value: unknown): readonly string[] {
  if (isString(value)) return [value]
  if (!isObject(value)) return []
  return PARTS.flatMap((part) => value[part]).filter(isString)
}
