import { canonicalOf } from '../../content/index.js'
import { isObject, isString, stringAt } from '../../json/index.js'
import { isResourceId, isResourceType, type Comparison } from '../../storage/index.js'
import type { Place } from '../indexing/container.js'
import { unescaped } from '../values/escapes.js'
import { invalidValue, type Alternatives, type Ask, type EntryFields, type IndexHints, type SearchKind } from './kind.js'

export const referenceKind: SearchKind = {
  fields: referenceFields,
  modifiers: [],
  negatable: false,
  alternatives: (ask) => referenceTests(ask),
  sortField: () => 'value',
}

/** A reference on this server. */
export interface LocalReference {
  readonly type: string
  readonly id: string
}

/** Reads `Type/id`, also with a version behind it, or absolute on the base. `undefined` for every other reference. */
export function localReference(reference: string, base: string | undefined): LocalReference | undefined {
  const relative = base !== undefined && reference.startsWith(`${base}/`) ? reference.slice(base.length + 1) : reference
  const [type = '', id = '', ...version] = relative.split('/')
  const isVersion = version.length === 0 || (version.length === 2 && version[0] === '_history')
  return isVersion && isResourceType(type) && isResourceId(id) ? { type, id } : undefined
}

/** Entries of a Reference, a canonical, a uri, or a resource that stands in its place. A reference that leads nowhere is only there. */
function referenceFields(value: unknown, { base, placeOf }: IndexHints): readonly EntryFields[] {
  const text = isObject(value) ? stringAt(value, 'reference') : value
  if (isString(text)) return text.startsWith('#') ? [placeFields(placeOf?.(text))] : addressFields(text, base)
  if (!isObject(value)) return []
  const type = stringAt(value, 'resourceType')
  const id = stringAt(value, 'id')
  return [type === undefined || id === undefined ? {} : { system: type, value: id }]
}

function placeFields(place: Place | undefined): EntryFields {
  return place === undefined ? {} : { system: place.type, value: place.id }
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

function localTests(ask: Ask, { type, id }: LocalReference): Alternatives {
  if (ask.modifier !== undefined && ask.modifier !== type) throw invalidValue(ask, `a reference to ${ask.modifier}`)
  return [
    [
      { field: 'value', op: 'eq', operand: id },
      { field: 'system', op: 'eq', operand: type },
    ],
  ]
}

/** A bare id may be of any target type; every system begins with nothing, and an absent one does not. */
function typeTest({ modifier, targets }: Ask): Comparison {
  if (modifier !== undefined) return { field: 'system', op: 'eq', operand: modifier }
  return targets.length > 0 ? { field: 'system', op: 'in', operands: targets } : { field: 'system', op: 'prefix', operand: '' }
}
