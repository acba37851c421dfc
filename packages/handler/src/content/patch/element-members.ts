import type { ElementSlot } from 'fhir-ops/internal/fhirpath'
import { treeOf, type JsonTree } from './json-patch.js'

/** The members of an object of the resource: an element of FHIR is one or two of them, lists of the same length where it repeats. */
export type Members = Map<string, JsonTree>

/** The list of a member that is open, made where there is none; something else that is there counts as its only item. */
export function itemsOf(holder: Members, name: string): JsonTree[] {
  const tree = holder.get(name)
  const content = tree?.content
  if (Array.isArray(content)) return content
  const items = tree === undefined ? [] : [tree]
  holder.set(name, { text: undefined, content: items })
  return items
}

/** A value as its members in JSON. */
export interface Written {
  readonly tree: JsonTree | undefined
  /** Id and extensions of a primitive. */
  readonly extra: JsonTree | undefined
}

interface Item extends Written {
  readonly index: number
}

/** The names of the members that an element can have: only primitives have a second. */
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

/** Puts an item into a list, instead of none or one. */
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

/** Takes an item out of a list, which may stay without content: what leaves it so is to `tidy` it. */
export function removeItem(holder: Members, slot: ElementSlot, index: number): Written {
  const removed: (JsonTree | undefined)[] = []
  for (const name of [slot.jsonName, slot.siblingName]) {
    const [item] = holder.has(name) ? itemsOf(holder, name).splice(index, 1) : []
    removed.push(item?.text === 'null' ? undefined : item)
  }
  return { tree: removed[0], extra: removed[1] }
}

/** Lists without any content are left out: FHIR has no empty ones. */
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

/** Puts members where those of an element were: the others keep their order. */
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
