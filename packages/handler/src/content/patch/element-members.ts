import type { ElementSlot } from 'fhir-ops/internal/fhirpath'
import { treeOf, type JsonTree } from './json-patch.js'

/** Members of an object in the resource. An element of FHIR is one or two of them, lists of equal length if it repeats. */
export type Members = Map<string, JsonTree>

/** Returns the list of an opened member, creating it if the member is absent; a single value becomes its only item. */
export function itemsOf(holder: Members, name: string): JsonTree[] {
  const tree = holder.get(name)
  const content = tree?.content
  if (Array.isArray(content)) return content
  const items = tree === undefined ? [] : [tree]
  holder.set(name, { text: undefined, content: items })
  return items
}

/** A value, as its JSON members. */
export interface Written {
  readonly tree: JsonTree | undefined
  /** Id and extensions of a primitive. */
  readonly extra: JsonTree | undefined
}

interface Item extends Written {
  readonly index: number
}

/** Names of the members that an element can have: only primitives have a second. */
function namesOf(
  { jsonName, siblingName }: ElementSlot,
  holder: Members,
  { extra }: Pick<Written, 'extra'>,
): readonly [string, string | undefined] {
  return [jsonName, extra !== undefined || holder.has(siblingName) ? siblingName : undefined]
}

export function insertItem(holder: Members, slot: ElementSlot, item: Item): void {
  putItem(holder, slot, { ...item, instead: 0 })
}

/** Inserts an item into a list, or replaces one. */
export function putItem(holder: Members, slot: ElementSlot, { tree, extra, index, instead }: Item & { readonly instead: 0 | 1 }): void {
  const [name, sibling] = namesOf(slot, holder, { extra })
  const length = lengthOf(holder, slot)
  for (const [member, value] of [
    [name, tree],
    [sibling, extra],
  ] as const) {
    if (member === undefined) continue
    const items = itemsOf(holder, member)
    while (items.length < length) items.push(treeOf('null'))
    items.splice(index, instead, value ?? treeOf('null'))
  }
  tidy(holder, slot)
}

/** Removes an item from a list, which may be empty afterwards; the caller then has to `tidy` it. */
export function removeItem(holder: Members, slot: ElementSlot, index: number): Written {
  const removed: (JsonTree | undefined)[] = []
  for (const name of [slot.jsonName, slot.siblingName]) {
    const [item] = holder.has(name) ? itemsOf(holder, name).splice(index, 1) : []
    removed.push(item?.text === 'null' ? undefined : item)
  }
  return { tree: removed[0], extra: removed[1] }
}

/** Removes lists without content, because FHIR has no empty lists. */
export function tidy(holder: Members, { jsonName, siblingName }: ElementSlot): void {
  for (const name of [jsonName, siblingName]) {
    if (holder.has(name) && itemsOf(holder, name).every(({ text }) => text === 'null')) holder.delete(name)
  }
}

export function lengthOf(holder: Members, { jsonName, siblingName }: ElementSlot): number {
  let length = 0
  for (const name of [jsonName, siblingName]) if (holder.has(name)) length = Math.max(length, itemsOf(holder, name).length)
  return length
}

export function setElement(holder: Members, slot: ElementSlot, written: Written): void {
  for (const [name, tree] of membersFor(slot, written)) holder.set(name, tree)
}

/** Replaces the members of an element; the other members keep their order. */
export function replaceElement(
  holder: Members,
  { jsonName, siblingName }: ElementSlot,
  members: Iterable<readonly [string, JsonTree]>,
): void {
  const before = [...holder]
  const isOld = ([name]: readonly [string, JsonTree]): boolean => name === jsonName || name === siblingName
  const at = before.findIndex(isOld)
  holder.clear()
  for (const [index, member] of before.entries()) {
    if (index === at) for (const [name, tree] of members) holder.set(name, tree)
    if (!isOld(member)) holder.set(...member)
  }
}

export function membersFor({ jsonName, siblingName }: ElementSlot, { tree, extra }: Written): readonly (readonly [string, JsonTree])[] {
  return [...(tree === undefined ? [] : [[jsonName, tree] as const]), ...(extra === undefined ? [] : [[siblingName, extra] as const])]
}

export function emptyObject(): JsonTree {
  return { text: undefined, content: new Map() }
}
