import { isObject, isString, objectAt, objectsAt, stringAt, type JsonObject } from '../../json/index.js'
import type { Comparison, Condition } from '../../storage/index.js'
import type { SearchParameter } from '../parameters/search-parameter.js'
import { escaped, splitUnescaped, unescaped } from '../written-values.js'
import { fold } from '../../text/index.js'
import {
  boundsOnly,
  invalidValue,
  textFields,
  type Alternatives,
  type Ask,
  type EntryFields,
  type IndexHints,
  type SearchKind,
  type ModifierResolver,
  unsupportedName,
} from './kind.js'
import { foldedText } from './string.js'
import { anyOf, entryCondition, oneOf } from '../filter/conditions.js'
import type { CodeGroup, CodeQuestion } from '../search-options.js'

export const tokenKind: SearchKind = {
  name: 'token',
  fields: tokenFields,
  modifiers: ['text'],
  negatable: true,
  alternatives(ask) {
    if (ask.modifier === 'text') return [[{ field: 'text', op: 'prefix', operand: foldedText(ask) }]]
    return [tokenTest(ask)]
  },
  sortField: () => 'value',
  entryModifiers: [{ name: 'of-type', applies: looksAtIdentifiers, fields: typedIdentifierFields, alternatives: typedIdentifierTests }],
  resolvers: new Map(['in', 'not-in', 'above', 'below'].map((modifier) => [modifier, resolverOf(modifier)])),
  tuple: {
    first: true,
    second: { fields: codedBounds, alternatives: (ask) => [[{ field: 'text', op: 'eq', operand: codeForm(ask) }]] },
  },
}

/** Parses `code`, `system|code`, `system|` and `|code` into comparisons with an entry's `system` and `value`. */
export function tokenTest(ask: Ask): readonly Comparison[] {
  const [first = '', second, third] = splitUnescaped(ask.value, '|').map(unescaped)
  if (third !== undefined || (first === '' && (second ?? '') === ''))
    throw invalidValue(ask, 'a token (code, system|code, system| or |code)')
  if (second === undefined) return [{ field: 'value', op: 'eq', operand: first }]
  const system: Comparison = first === '' ? { field: 'system', op: 'absent' } : { field: 'system', op: 'eq', operand: first }
  return second === '' ? [system] : [{ field: 'value', op: 'eq', operand: second }, system]
}

/** Creates the entries of a Coding, CodeableConcept, Identifier, ContactPoint, code, string, id or boolean. */
function tokenFields(value: unknown, { system }: IndexHints = {}): readonly EntryFields[] {
  if (isString(value)) return [coded({ system: isString(system) ? system : stringAt(system, value), code: value })]
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

/** R4 defines the use as the system of a ContactPoint; its own system (`phone`, `email`) is indexed too, because people search by it. */
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
  const fields = textFields(system, code)
  return text === undefined ? fields : { ...fields, text: fold(text) }
}

/** Combines the bounds of an entry with every form in which a search can name its code: alone, with its system, without system, or the system alone. */
export function codedBounds(fields: EntryFields): readonly EntryFields[] {
  const { system, value } = fields
  if (value === undefined) return []
  const code = escaped(value)
  const forms = system === undefined ? [code, `|${code}`] : [code, `${escaped(system)}|${code}`, `${escaped(system)}|`]
  return forms.map((text) => ({ ...boundsOnly(fields), text }))
}

/** Returns the form in which the second component of a tuple names a code. */
function codeForm(ask: Ask): string {
  const parts = splitUnescaped(ask.value, '|').map(unescaped)
  if (parts.length > 2 || parts.every((part) => part === '')) throw invalidValue(ask, 'a token (code, system|code, system| or |code)')
  return parts.map(escaped).join('|')
}

/** True for a parameter of identifiers, the only ones for which R4 has `:of-type`: its elements are named `identifier`. */
function looksAtIdentifiers({ expression }: SearchParameter): boolean {
  return expression.split('|').every((branch) => /(?:^|\.)identifier$/.test(branch.trim()))
}

/** Creates the entries of an Identifier for each code of its type: the code with its system, and the identifier's value as `text`. */
function typedIdentifierFields(identifier: unknown): readonly EntryFields[] {
  if (!isObject(identifier)) return []
  const text = stringAt(identifier, 'value')
  if (text === undefined) return []
  return objectsAt(objectAt(identifier, 'type'), 'coding').flatMap((coding) => {
    const [system, value] = [stringAt(coding, 'system'), stringAt(coding, 'code')]
    return system === undefined || value === undefined ? [] : [{ system, value, text }]
  })
}

/** Parses the value of `:of-type`: `system|code|value`, all three required. @see https://hl7.org/fhir/R4/search.html#token */
function typedIdentifierTests(ask: Ask): Alternatives {
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

/** Creates the resolver for `:in`, `:not-in`, `:above` or `:below`, which gets the codes from `options.codesOf`. */
function resolverOf(modifier: string): ModifierResolver {
  return async (scope, { code }, asks) => {
    const { codesOf } = scope.options
    if (codesOf === undefined) throw unsupportedName(scope, 'needs codes, which are not available here')
    const conditions: Condition[] = []
    for (const ask of asks) conditions.push(codeCondition(code, await codesOf(questionOf(modifier, ask))))
    return modifier === 'not-in' ? { kind: 'not', condition: anyOf(conditions) } : anyOf(conditions)
  }
}

function questionOf(modifier: string, ask: Ask): CodeQuestion {
  if (modifier === 'in' || modifier === 'not-in') return { modifier: 'in', valueSet: unescaped(ask.value) }
  const [system = '', code = '', ...rest] = splitUnescaped(ask.value, '|').map(unescaped)
  if (system === '' || code === '' || rest.length > 0) throw invalidValue(ask, 'a code with its system (system|code)')
  return { modifier: modifier === 'above' ? 'above' : 'below', system, code }
}

/** A `code` whose system is not defined is indexed without a system, so it matches by the code alone. */
function codeCondition(param: string, groups: readonly CodeGroup[]): Condition {
  return anyOf(
    groups.flatMap(({ system, codes }): readonly Condition[] => [
      oneOf(param, system, codes),
      entryCondition(param, [
        [
          { field: 'value', op: 'in', operands: codes },
          { field: 'system', op: 'absent' },
        ],
      ]),
    ]),
  )
}
