import type { TypeDefinition } from 'fhir-ops/internal/fhirpath'
import { isNode, type ElmNode } from '../elm/node.js'
import type { FhirElement } from '../values/value.js'

/** The JSON of a resource without the members that no library reads. */
class TrimmedResource {
  readonly [member: string]: unknown
}

/** Thrown if a whole resource is needed, but only a trimmed one is available. */
export class WholeNeeded extends Error {
  constructor() {
    super('A resource is needed as a whole of which only some members were kept.')
  }
}

/** @throws {WholeNeeded} for trimmed JSON. */
export function checkWhole(json: unknown): void {
  if (json instanceof TrimmedResource) throw new WholeNeeded()
}

/** Names of elements directly below resources that may be read; `all` if any may be. */
export type ReadNames = ReadonlySet<string> | 'all'

/** Names that are read from every resource. */
const ALWAYS = ['resourceType', 'id', 'code', 'subject', 'patient']

const named = new WeakMap<ElmNode, ReadNames>()

/**
 * The names with which libraries may read elements of resources: every string in their ELM, and every part of a dotted one, except for the source text, so
 * that no way in which a node names an element is missed; `all` if elements are read without being named.
 */
export function namesRead(libraries: readonly ElmNode[]): ReadNames {
  const all = new Set(ALWAYS)
  for (const library of libraries) {
    const own = named.get(library) ?? namesIn(library)
    named.set(library, own)
    if (own === 'all') return own
    for (const name of own) all.add(name)
  }
  return all
}

/** Members of nodes that do not name elements: the source text, and positions in it. */
const NAMELESS: ReadonlySet<string> = new Set(['annotation', 'localId', 'locator'])

function namesIn(library: ElmNode): ReadNames {
  const names = new Set<string>()
  const open: unknown[] = [library]
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value === 'string') for (const name of value.split('.')) names.add(name)
    else if (Array.isArray(value)) open.push(...value)
    else if (isNode(value)) open.push(...Object.entries(value).flatMap(([member, part]) => (NAMELESS.has(member) ? [] : [part])))
  }
  return names.has('Children') || names.has('Descendents') ? 'all' : names
}

/** The union of two sets of names. */
export function bothNames(one: ReadNames, other: ReadNames): ReadNames {
  return one === 'all' || other === 'all' ? 'all' : new Set([...one, ...other])
}

/** Whether all names of the second are among those of the first. */
export function includesNames(names: ReadNames, asked: ReadNames): boolean {
  return names === 'all' || (asked !== 'all' && asked.isSubsetOf(names))
}

/** Copies the members of a resource that may be read to a new element, which also keeps values. */
export function trimmedElement({ kind, type, json }: FhirElement, names: ReadNames): FhirElement {
  if (names === 'all' || !isNode(json)) return { kind, type, json, values: [] }
  const trimmed: Record<string, unknown> = Object.assign(new TrimmedResource())
  for (const [member, value] of Object.entries(json)) if (isRead(type, member, names)) trimmed[member] = value
  return { kind, type, json: trimmed, values: [] }
}

/** Whether a member is read. The members of a choice are read by their common name, and `_name` by the name of the primitive. */
function isRead({ members }: TypeDefinition, member: string, names: ReadonlySet<string>): boolean {
  const plain = member.startsWith('_') ? member.slice(1) : member
  return names.has(plain) || names.has(members.get(plain)?.name ?? plain)
}
