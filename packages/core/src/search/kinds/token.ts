import { isObject, isString, objectAt, objectsAt, stringAt, type JsonObject } from '../../json/index.js'
import type { Comparison } from '../../storage/index.js'
import { splitUnescaped, unescaped } from '../values/escapes.js'
import { fold } from '../../text/index.js'
import { invalidValue, type Ask, type EntryFields, type IndexHints, type SearchKind } from './kind.js'
import { foldedText } from './string.js'

export const tokenKind: SearchKind = {
  fields: tokenFields,
  modifiers: ['text'],
  negatable: true,
  alternatives(ask) {
    if (ask.modifier === 'text') return [[{ field: 'text', op: 'prefix', operand: foldedText(ask) }]]
    return [tokenTest(ask)]
  },
  sortField: () => 'value',
}

/** What `code`, `system|code`, `system|` and `|code` demand of an entry's `system` and `value`. */
export function tokenTest(ask: Ask): readonly Comparison[] {
  const [first = '', second, third] = splitUnescaped(ask.value, '|').map(unescaped)
  if (third !== undefined || (first === '' && (second ?? '') === ''))
    throw invalidValue(ask, 'a token (code, system|code, system| or |code)')
  if (second === undefined) return [{ field: 'value', op: 'eq', operand: first }]
  const system: Comparison = first === '' ? { field: 'system', op: 'absent' } : { field: 'system', op: 'eq', operand: first }
  return second === '' ? [system] : [{ field: 'value', op: 'eq', operand: second }, system]
}

/** Entries of a Coding, CodeableConcept, Identifier, ContactPoint, code, string, id or boolean. */
function tokenFields(value: unknown, { system }: IndexHints = {}): readonly EntryFields[] {
  if (isString(value)) return [coded({ system, code: value })]
  if (typeof value === 'boolean') return [{ value: String(value) }]
  if (!isObject(value)) return []
  if (Array.isArray(value['coding'])) return conceptFields(value)
  if (stringAt(value, 'value') !== undefined) return isContactPoint(value) ? contactFields(value) : [identifierFields(value)]
  return [
    coded({
      system: stringAt(value, 'system'),
      code: stringAt(value, 'code'),
      text: stringAt(value, 'display') ?? stringAt(value, 'text'),
    }),
  ]
}

function conceptFields(concept: JsonObject): readonly EntryFields[] {
  const codings = objectsAt(concept, 'coding').flatMap((coding) => tokenFields(coding))
  const text = stringAt(concept, 'text')
  return text === undefined ? codings : [...codings, coded({ text })]
}

function identifierFields(identifier: JsonObject): EntryFields {
  const text = stringAt(objectAt(identifier, 'type'), 'text')
  return coded({ system: stringAt(identifier, 'system'), code: stringAt(identifier, 'value'), text })
}

const CONTACT_SYSTEMS: ReadonlySet<string> = new Set(['phone', 'fax', 'email', 'pager', 'url', 'sms', 'other'])

function isContactPoint(value: JsonObject): boolean {
  return CONTACT_SYSTEMS.has(stringAt(value, 'system') ?? '') || Object.hasOwn(value, 'rank')
}

/** R4 takes the use for the system of a ContactPoint; its own system (`phone`, `email`) is what people ask for. */
function contactFields(contact: JsonObject): readonly EntryFields[] {
  const code = stringAt(contact, 'value')
  const systems = [stringAt(contact, 'use'), stringAt(contact, 'system')].filter(isString)
  return systems.length === 0 ? [coded({ code })] : systems.map((system) => coded({ system, code }))
}

interface Token {
  readonly system?: string | undefined
  readonly code?: string | undefined
  readonly text?: string | undefined
}

function coded({ system, code, text }: Token): EntryFields {
  return {
    ...(system !== undefined && { system }),
    ...(code !== undefined && { value: code }),
    ...(text !== undefined && { text: fold(text) }),
  }
}
