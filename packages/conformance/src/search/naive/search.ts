import { at, PARAMETERS, TARGETS, TUPLES, type Resource, type Values } from './values.js'
import { hideEscaped, matches, plain } from './matches.js'

/** A stored resource, and the time when it was written, in milliseconds since 1970. */
export interface Stored {
  readonly resource: Resource
  readonly updated: number
}

/** A resource that is searched. */
interface Seen extends Stored {
  /** The resource that contains it. Chains follow contained resources, but only some searches find them. */
  readonly container?: Seen
}

/** A search parameter as sent. */
export type Pair = readonly [name: string, value: string]

/** `Type/id` of the matches in the requested order, found by testing every resource with every parameter. */
export function naiveSearch(all: readonly Stored[], types: readonly string[], pairs: readonly Pair[]): readonly string[] {
  const seen = all.flatMap(takenApart)
  const valueOf = (name: string): string | undefined => pairs.find(([each]) => each === name)?.[1]
  const among = valueOf('_contained') ?? 'false'
  const matched = seen.filter(
    (stored) =>
      (among === 'both' || (among === 'true') === (stored.container !== undefined)) &&
      types.includes(stored.resource.resourceType) &&
      pairs.every((pair) => isControl(pair) || holds(seen, stored, pair)),
  )
  const found = valueOf('_containedType') === 'contained' ? matched : [...new Set(matched.map((stored) => stored.container ?? stored))]
  const keys = (valueOf('_sort') ?? '').split(',').filter((key) => key !== '')
  return found.toSorted((a, b) => inOrder(a, b, keys)).map(addressOf)
}

/** A resource and its contained resources, each with a unique id, which references to it use as well. */
function takenApart({ resource, updated }: Stored): readonly Seen[] {
  const within = at(resource, 'contained').filter(isResource)
  const idOf = ({ id }: Resource): string => `${resource.resourceType}.${resource.id}#${id}`
  const addressed = (text: string): string => {
    const member = within.find(({ id }) => `#${id}` === text)
    return member === undefined ? '' : `${member.resourceType}/${idOf(member)}`
  }
  const readdressed = (value: Resource): Resource =>
    JSON.parse(JSON.stringify(value), (_, part: unknown) => (typeof part === 'string' && part.startsWith('#') ? addressed(part) : part))
  const container: Seen = { resource: readdressed(resource), updated }
  return [container, ...within.map((member): Seen => ({ resource: { ...readdressed(member), id: idOf(member) }, updated, container }))]
}

function isResource(value: unknown): value is Resource {
  return typeof value === 'object' && value !== null && 'resourceType' in value
}

const CONTROLS: ReadonlySet<string> = new Set(['_contained', '_containedType', '_count', '_sort'])

function isControl([name]: Pair): boolean {
  return CONTROLS.has(name)
}

function holds(all: readonly Seen[], stored: Stored, [name, value]: Pair): boolean {
  if (name.startsWith('_has:')) return isReferred(all, stored, [name, value])
  const dot = name.indexOf('.')
  if (dot >= 0) return isFollowed(all, stored, { head: name.slice(0, dot), rest: [name.slice(dot + 1), value] })
  const [code = '', modifier] = name.split(':')
  const isOne = hideEscaped(value)
    .split(',')
    .some((one) => isMeant(all, stored, { code, modifier, value: one }))
  return modifier === 'not' ? !isOne : isOne
}

interface Asked {
  readonly code: string
  readonly modifier: string | undefined
  readonly value: string
}

function isMeant(all: readonly Seen[], stored: Stored, { code, modifier, value }: Asked): boolean {
  const { resource } = stored
  if (code === '_id') return value === resource.id
  if (code === '_lastUpdated') return matches({ kind: 'date', values: [instantOf(stored)] }, { modifier, value })
  if (code === '_list') return isListed(all, stored, value)
  const tuple = TUPLES[code]
  if (tuple !== undefined) return tuple.places(resource).some((place) => isTuple(place, tuple.codes, value.split('$')))
  if (modifier === 'identifier' || modifier === 'of-type') return isPlainly(resource, `${code}:${modifier}`, value)
  const values = valuesOf(resource, code)
  return modifier === 'missing' ? (values.values.length === 0) === (value === 'true') : matches(values, { modifier, value })
}

function isListed(all: readonly Seen[], stored: Stored, id: string): boolean {
  const lists = all.filter(({ resource }) => resource.resourceType === 'List' && resource.id === id)
  return lists.some(({ resource }) => valuesOf(resource, 'item').values.some((one) => one === addressOf(stored)))
}

/** Whether all parts of a tuple hold. */
function isTuple(resource: Resource, codes: readonly string[], parts: readonly string[]): boolean {
  return codes.every((code, index) => isPlainly(resource, code, parts[index] ?? ''))
}

function isPlainly(resource: Resource, code: string, value: string): boolean {
  return matches(valuesOf(resource, code), { modifier: undefined, value })
}

function instantOf({ updated }: Stored): { readonly low: number; readonly high: number } {
  return { low: updated, high: updated }
}

function valuesOf(resource: Resource, code: string): Values {
  const reader = PARAMETERS[resource.resourceType]?.get(code)
  if (reader === undefined) throw new TypeError(`${resource.resourceType} has no ${code}.`)
  return reader(resource)
}

interface Chain {
  /** A reference parameter, with a type if one is named. */
  readonly head: string
  readonly rest: Pair
}

function isFollowed(all: readonly Seen[], { resource }: Stored, { head, rest }: Chain): boolean {
  const [code = '', type] = head.split(':')
  const references = valuesOf(resource, code).values
  const types = type === undefined ? (TARGETS[code] ?? []) : [type]
  return all.some(
    (target) =>
      types.includes(target.resource.resourceType) && references.some((one) => one === addressOf(target)) && holds(all, target, rest),
  )
}

function isReferred(all: readonly Seen[], stored: Stored, [name, value]: Pair): boolean {
  const [, type = '', code = '', ...rest] = name.split(':')
  return all.some(
    (source) =>
      source.container === undefined &&
      source.resource.resourceType === type &&
      valuesOf(source.resource, code).values.some((one) => one === addressOf(stored)) &&
      holds(all, source, [rest.join(':'), value]),
  )
}

function addressOf({ resource }: Stored): string {
  return `${resource.resourceType}/${resource.id}`
}

/** Orders by the smallest value, or descending by the largest; resources without a value come last. Ties: contained resources last, then by type and id. */
function inOrder(a: Seen, b: Seen, keys: readonly string[]): number {
  for (const key of keys) {
    const descending = key.startsWith('-')
    const [left, right] = [a, b].map((stored) => sortValue(stored, descending ? key.slice(1) : key, descending))
    if (left === right) continue
    if (left === undefined || right === undefined) return left === undefined ? 1 : -1
    return isBefore(left, right) === descending ? 1 : -1
  }
  if ((a.container === undefined) !== (b.container === undefined)) return a.container === undefined ? -1 : 1
  return addressOf(a) < addressOf(b) ? -1 : 1
}

/** Compares texts by code points, whose order UTF-8 keeps and UTF-16 does not. */
function isBefore(left: string | number, right: string | number): boolean {
  return typeof left === 'string' && typeof right === 'string' ? Buffer.compare(Buffer.from(left), Buffer.from(right)) < 0 : left < right
}

function sortValue(stored: Stored, code: string, descending: boolean): string | number | undefined {
  if (code === '_id') return stored.resource.id
  if (code === '_lastUpdated') return stored.updated
  const sorted = sortValues(valuesOf(stored.resource, code), descending).toSorted((a, b) => (isBefore(a, b) ? -1 : Number(isBefore(b, a))))
  return descending ? sorted.at(-1) : sorted[0]
}

function sortValues(values: Values, descending: boolean): readonly (string | number)[] {
  switch (values.kind) {
    case 'token':
      return values.values.flatMap(({ code }) => code ?? [])
    case 'string':
      return values.values.map(plain)
    case 'uri':
    case 'words':
      return values.values
    case 'reference':
      return values.values
        .filter((reference) => reference !== '')
        .map((reference) => (/^[A-Z][A-Za-z]+\/[\w.#-]+$/.test(reference) ? (reference.split('/')[1] ?? '') : reference))
    default:
      return values.values.map(({ low, high }) => (descending ? high : low))
  }
}
