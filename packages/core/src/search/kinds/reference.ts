import { canonicalOf, formatCanonical } from '../../content/index.js'
import { isObject, isString, objectAt, stringAt } from '../../json/index.js'
import { isResourceId, isResourceType, type Comparison, type Condition } from '../../storage/index.js'
import { anyOf, entryCondition, oneOf } from '../filter/conditions.js'
import {
  type FilterScope,
  invalidValue,
  unsupportedName,
  type Alternatives,
  type Ask,
  type EntryFields,
  type IndexHints,
  type SearchKind,
} from './kind.js'
import { localReference, type StoredAddress } from '../indexing/address.js'
import type { SearchParameter } from '../parameters/search-parameter.js'
import { unescaped } from '../written-values.js'
import { tokenKind, tokenTest } from './token.js'
import { uriKind } from './uri.js'

/** References. For parameters with only canonicals, `:above` and `:below` use the hierarchy of versions; for others, that of resources. */
export const referenceKind: SearchKind = {
  name: 'reference',
  fields: referenceFields,
  modifiers: [],
  takes: (modifier, { targets }) => isResourceType(modifier) && (targets.length === 0 || targets.includes(modifier)),
  negatable: false,
  alternatives: (ask) => referenceTests(ask),
  sortField: () => 'value',
  entryModifiers: [{ name: 'identifier', applies: () => true, fields: identifierFields, alternatives: (ask) => [tokenTest(ask)] }],
  resolvers: new Map([
    ['above', parseSteps],
    ['below', parseSteps],
  ]),
  tuple: { first: true },
}

/** `_profile`, a canonical that R4 declares as a uri. */
export const profileKind: SearchKind = {
  ...referenceKind,
  name: 'profile',
  codes: ['_profile'],
  modifiers: uriKind.modifiers,
  alternatives: (ask) => (ask.modifier === undefined || isResourceType(ask.modifier) ? referenceTests(ask) : uriKind.alternatives(ask)),
  resolvers: new Map(),
}

function parseSteps(scope: FilterScope, parameter: SearchParameter, asks: readonly Ask[]): Condition | Promise<Condition> {
  if (!parameter.canonical) return parseHierarchy(scope, parameter, asks)
  return entryCondition(parameter.code, asks.flatMap(versionTests))
}

function identifierFields(reference: unknown): readonly EntryFields[] {
  const identifier = isObject(reference) ? objectAt(reference, 'identifier') : undefined
  return identifier === undefined || stringAt(identifier, 'value') === undefined ? [] : tokenKind.fields(identifier, {})
}

/**
 * Creates the entries of a Reference, a canonical, a uri, or an inline resource. A reference without a known target has an entry without fields. An inline
 * resource of another type is none: the first one of any Bundle is where its Composition or MessageHeader would be.
 */
function referenceFields(value: unknown, { base, targets = [], addressOf }: IndexHints): readonly EntryFields[] {
  const text = isObject(value) ? stringAt(value, 'reference') : value
  if (isString(text)) return text.startsWith('#') ? [fragmentFields(addressOf?.(text))] : addressFields(text, base)
  if (!isObject(value)) return []
  const type = stringAt(value, 'resourceType')
  const id = stringAt(value, 'id')
  if (type !== undefined && targets.length > 0 && !targets.includes(type)) return []
  return [type === undefined || id === undefined ? {} : { system: type, value: id }]
}

function fragmentFields(address: StoredAddress | undefined): EntryFields {
  return address === undefined ? {} : { system: address.type, value: address.id }
}

function addressFields(text: string, base: string | undefined): readonly EntryFields[] {
  const local = localReference(text, base)
  if (local !== undefined) return [{ system: local.type, value: local.id }]
  const { url } = canonicalOf(text)
  return url === text ? [{ value: text }] : [{ value: text }, { value: url }]
}

function referenceTests(ask: Ask): Alternatives {
  const text = unescaped(ask.value)
  const local = localReference(text, ask.base)
  if (local !== undefined) return localTests(ask, local)
  if (isResourceId(text)) return [[{ field: 'value', op: 'eq', operand: text }, typeTest(ask)]]
  if (ask.modifier !== undefined) throw invalidValue(ask, `a reference to ${ask.modifier}`)
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:/.test(text)) throw invalidValue(ask, 'a reference (id, Type/id or URL)')
  return [
    [
      { field: 'value', op: 'eq', operand: text },
      { field: 'system', op: 'absent' },
    ],
  ]
}

function localTests(ask: Ask, { type, id }: StoredAddress): Alternatives {
  if (ask.modifier !== undefined && ask.modifier !== type) throw invalidValue(ask, `a reference to ${ask.modifier}`)
  return [
    [
      { field: 'value', op: 'eq', operand: id },
      { field: 'system', op: 'eq', operand: type },
    ],
  ]
}

/** An id alone may belong to any target type. The empty prefix matches every present system, but not an absent one. */
function typeTest({ modifier, targets }: Ask): Comparison {
  if (modifier !== undefined) return { field: 'system', op: 'eq', operand: modifier }
  return targets.length > 0 ? { field: 'system', op: 'in', operands: targets } : { field: 'system', op: 'prefix', operand: '' }
}

/**
 * Parses `:above` and `:below` of canonicals, which compare versions: below `url|1.2` are 1.2 and all that begin with `1.2.`; above `url|1.2.3` are
 * 1.2.3, 1.2 and 1. A reference without version never matches.
 *
 * @throws {OperationError} `search-invalid` for a canonical without version.
 * @see https://hl7.org/fhir/R4/search.html#recursive
 */
function versionTests(ask: Ask): Alternatives {
  const canonical = unescaped(ask.value)
  const { url, version } = canonicalOf(canonical)
  if (version === undefined) throw invalidValue(ask, 'a canonical with its version (url|version)')
  if (ask.modifier === 'below')
    return [[{ field: 'value', op: 'eq', operand: canonical }], [{ field: 'value', op: 'prefix', operand: `${canonical}.` }]]
  return [[{ field: 'value', op: 'in', operands: versionsAbove(version).map((above) => formatCanonical(url, above)) }]]
}

/** Returns `1`, `1.2` and `1.2.3` for `1.2.3`. */
function versionsAbove(version: string): readonly string[] {
  const points = Array.from(version.matchAll(/\./g), ({ index }) => index)
  return [...points, version.length].map((end) => version.slice(0, end))
}

/**
 * Parses `:above` and `:below` of a reference: matches the resource itself, and all that it is part of (`above`) or that are part of it (`below`). The
 * parameter `partof` or `part-of` of the type defines the hierarchy.
 *
 * @see https://hl7.org/fhir/R4/search.html#recursive
 */
async function parseHierarchy(scope: FilterScope, parameter: SearchParameter, asks: readonly Ask[]): Promise<Condition> {
  const { hierarchyOf: idsOf } = scope.options
  const modifier = asks[0]?.modifier === 'above' ? 'above' : 'below'
  if (idsOf === undefined) throw unsupportedName(scope, `has the modifier '${modifier}', which is not supported`)
  const conditions: Condition[] = []
  for (const ask of asks) {
    const { type, id } = memberOf(scope, parameter, ask)
    const ids = await idsOf({ type, id, modifier, param: partOf(scope, type) ?? '' })
    conditions.push(oneOf(parameter.code, type, ids))
  }
  return anyOf(conditions)
}

/** Returns the resource that a value names. An id alone is enough if only one target type of the reference has a hierarchy. */
function memberOf(scope: FilterScope, { targets }: SearchParameter, ask: Ask): StoredAddress {
  const text = unescaped(ask.value)
  const types = targets.filter((type) => partOf(scope, type) !== undefined)
  const [only] = types
  const member =
    localReference(text, ask.base) ??
    (types.length === 1 && only !== undefined && isResourceId(text) ? { type: only, id: text } : undefined)
  if (member === undefined || (targets.length > 0 && !targets.includes(member.type))) throw invalidValue(ask, 'a reference (Type/id)')
  if (partOf(scope, member.type) === undefined) throw unsupportedName(scope, `asks for the hierarchy of ${member.type}, which has none`)
  return member
}

/** Returns the parameter by which resources of a type state what they are part of. */
function partOf({ options: { parameters } }: FilterScope, type: string): string | undefined {
  const found = ['partof', 'part-of'].map((code) => parameters.find(type, code)).find((parameter) => parameter?.targets.includes(type))
  return found?.code
}
