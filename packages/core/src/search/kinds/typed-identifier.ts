import { isObject, objectAt, objectsAt, stringAt } from '../../json/index.js'
import { splitUnescaped, unescaped } from '../values/escapes.js'
import { invalidValue, type Alternatives, type Ask, type EntryFields } from './kind.js'

/** Entries of an Identifier by each code of its type: the code with its system, and the identifier's value as `text`. */
export function typedIdentifierFields(identifier: unknown): readonly EntryFields[] {
  if (!isObject(identifier)) return []
  const text = stringAt(identifier, 'value')
  if (text === undefined) return []
  return objectsAt(objectAt(identifier, 'type'), 'coding').flatMap((coding) => {
    const [system, value] = [stringAt(coding, 'system'), stringAt(coding, 'code')]
    return system === undefined || value === undefined ? [] : [{ system, value, text }]
  })
}

/** Reads the value of `:of-type`: `system|code|value`, all three. @see https://hl7.org/fhir/R4/search.html#token */
export function typedIdentifierTests(ask: Ask): Alternatives {
  const [system = '', code = '', value = '', ...more] = splitUnescaped(ask.value, '|').map(unescaped)
  if (system === '' || code === '' || value === '' || more.length > 0)
    throw invalidValue(ask, 'an identifier with its type (system|code|value)')
  return [
    [
      { field: 'value', op: 'eq', operand: code },
      { field: 'system', op: 'eq', operand: system },
      { field: 'text', op: 'eq', operand: value },
    ],
  ]
}
