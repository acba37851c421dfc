import { isObject, stringAt, type JsonObject } from '../json/index.js'
import { ANY_TYPE, elementSlot, type ElementSlot, type TypeDefinition, type TypeModel } from './model.js'

/** An element of a resource, or the resource itself, with its type and position. */
export interface FhirNode {
  readonly kind: 'node'
  /** The JSON value; `undefined` for a primitive that has only an id or extensions. */
  readonly value: unknown
  /** The `_name` sibling of a primitive. */
  readonly extra: JsonObject | undefined
  readonly type: TypeDefinition
  /** The slot of the element in its parent; absent on a root. */
  readonly slot: ElementSlot | undefined
  readonly parent: FhirNode | undefined
  /** Position among its siblings of the same name, -1 when the element does not repeat. */
  readonly index: number
}

/** Receives nodes: a list of nodes or items. */
export interface NodeSink {
  push(node: FhirNode): unknown
}

/** Creates the node of a whole resource, or of a value of the given type. */
export function rootNode(model: TypeModel, value: unknown, typeName?: string): FhirNode {
  const name = typeName ?? (isObject(value) ? stringAt(value, 'resourceType') : undefined)
  const type = name === undefined ? undefined : model.type(name)
  return { kind: 'node', value, extra: undefined, type: type ?? ANY_TYPE, slot: undefined, parent: undefined, index: -1 }
}

/** Adds the children of `node` with a FHIRPath name to `into`, in document order. For FHIRPath, what has no content is not there: `skips` is `skippedBy`. */
export function pushChildren(model: TypeModel, node: FhirNode, { name, ...to }: { name: string } & Omit<Wanted, 'slot'>): void {
  const slots = node.type.elements.get(name)
  if (slots === undefined) {
    if (hasUntyped(node, name)) pushSlot(model, node, { slot: untypedSlot(name, node.value), ...to })
    return
  }
  for (const slot of possibleSlots(node, slots)) pushSlot(model, node, { slot, ...to })
}

/** Counts the children with a FHIRPath name, without creating their nodes. */
export function countChildren(model: TypeModel, node: FhirNode, name: string): number {
  const slots = node.type.elements.get(name)
  if (slots === undefined) return hasUntyped(node, name) ? countSlot(model, node, untypedSlot(name, node.value)) : 0
  let count = 0
  for (const slot of possibleSlots(node, slots)) count += countSlot(model, node, slot)
  return count
}

const FEW = 8

/** For a choice of many types, such as the fifty of an extension's value, returns only the present slots, because there are fewer members. */
function possibleSlots(node: FhirNode, slots: readonly ElementSlot[]): readonly ElementSlot[] {
  return slots.length <= FEW ? slots : presentSlots(node).filter(({ name }) => name === slots[0]?.name)
}

/** Adds all children of `node` to `into`, in document order; members that the type does not have, and what has no content, are skipped. */
export function pushAllChildren(model: TypeModel, node: FhirNode, into: NodeSink): void {
  for (const slot of presentSlots(node)) pushSlot(model, node, { slot, into, skips: skippedBy(model) })
}

/** Counts all children, without creating their nodes. */
export function countAllChildren(model: TypeModel, node: FhirNode): number {
  let count = 0
  for (const slot of presentSlots(node)) count += countSlot(model, node, slot)
  return count
}

/** Returns the slots in which `node` has children, by FHIRPath name. */
export function childSlots(node: FhirNode): ReadonlyMap<string, readonly ElementSlot[]> {
  return Map.groupBy(presentSlots(node), ({ name }) => name)
}

/** Returns the FHIRPath of a node from its root, with an index for repeating elements and `ofType()` for choices: `Patient.name[0].given[1]`. */
export function pathOf(node: FhirNode): string {
  const { parent, slot, index } = node
  if (parent === undefined || slot === undefined) return node.type.name
  const choice = slot.isChoice ? `.ofType(${slot.type})` : ''
  return `${pathOf(parent)}.${slot.name}${index < 0 ? '' : `[${index}]`}${choice}`
}

/** The nodes of one slot that are wanted. */
interface Wanted {
  readonly slot: ElementSlot
  readonly into: NodeSink
  /** Values to leave out. */
  readonly skips?: ValueTest | undefined
}

type ValueTest = (type: TypeDefinition, value: unknown) => boolean

/** Adds the nodes of one slot of `node` to `into`. */
export function pushSlot(model: TypeModel, parent: FhirNode, { slot, into, skips }: Wanted): void {
  const value = memberOf(parent, slot.jsonName)
  const extra = isStructure(value) ? undefined : memberOf(parent, slot.siblingName)
  if (value === undefined && extra === undefined) return
  if (Array.isArray(value) || Array.isArray(extra)) {
    pushList(model, { parent, slot, into, skips }, { values: listOf(value), extras: listOf(extra) })
    return
  }
  const type = concreteType(model, typeOf(model, slot), value)
  if (skips?.(type, value) === true) return
  into.push({ kind: 'node', value, extra: isObject(extra) ? extra : undefined, type, slot, parent, index: slot.isCollection ? 0 : -1 })
}

interface Place extends Wanted {
  readonly parent: FhirNode
}

interface Lists {
  readonly values: readonly unknown[]
  readonly extras: readonly unknown[]
}

function pushList(model: TypeModel, { parent, slot, into, skips }: Place, { values, extras }: Lists): void {
  const length = Math.max(values.length, extras.length)
  const declared = typeOf(model, slot)
  for (let index = 0; index < length; index++) {
    const value = values[index] ?? undefined
    const extra = extras[index]
    const type = concreteType(model, declared, value)
    if (skips?.(type, value) !== true)
      into.push({ kind: 'node', value, extra: isObject(extra) ? extra : undefined, type, slot, parent, index })
  }
}

function listOf(json: unknown): readonly unknown[] {
  return Array.isArray(json) ? json : NO_LIST
}

const NO_LIST: readonly unknown[] = []

function typeOf(model: TypeModel, slot: ElementSlot): TypeDefinition {
  return model.type(slot.type) ?? ANY_TYPE
}

/** A resource states its own type; everything else has the type of its slot. */
function concreteType(model: TypeModel, type: TypeDefinition, value: unknown): TypeDefinition {
  if (type.kind !== 'resource' || !isObject(value)) return type
  return model.type(stringAt(value, 'resourceType') ?? '') ?? type
}

function countSlot(model: TypeModel, node: FhirNode, slot: ElementSlot): number {
  const value = memberOf(node, slot.jsonName)
  const length = Array.isArray(value) ? value.length : value === undefined ? 0 : 1
  if (length > 0) return model.keepsEmpty === true ? length : length - emptyIn(typeOf(model, slot), value)
  const extra = memberOf(node, slot.siblingName)
  return Array.isArray(extra) ? extra.length : extra === undefined ? 0 : 1
}

/** Number of empty values of a type, which is not that of a primitive. */
function emptyIn(type: TypeDefinition, value: unknown): number {
  if (type.kind === 'primitive') return 0
  return Array.isArray(value) ? value.reduce((sum: number, item) => (isEmpty(type, item) ? sum + 1 : sum), 0) : isEmpty(type, value) ? 1 : 0
}

/** The values that are not there for FHIRPath. */
export function skippedBy({ keepsEmpty }: TypeModel): ValueTest | undefined {
  return keepsEmpty === true ? undefined : isEmpty
}

/** True for what JSON must not have: an object without members, and null or a text where an object belongs. */
export function isEmpty({ kind, name }: TypeDefinition, value: unknown): boolean {
  if (kind === 'primitive') return false
  if (!isObject(value)) return name !== ANY_TYPE.name
  for (const member in value) if (Object.hasOwn(value, member)) return false
  return true
}

/** Returns a member. Names come from the model or are own members; functions come only from prototypes and are ignored. */
function memberOf(node: FhirNode, name: string): unknown {
  const value = holderOf(node)?.[name]
  return value === null || typeof value === 'function' ? undefined : value
}

/** Returns the JSON object that holds the children: for a primitive, its sibling. */
function holderOf(node: FhirNode): JsonObject | undefined {
  return isObject(node.value) ? node.value : node.extra
}

/** True for a complex value, or a list of them: only primitives have siblings. */
function isStructure(value: unknown): boolean {
  return Array.isArray(value) ? isObject(value[0]) : typeof value === 'object'
}

function presentSlots(node: FhirNode): readonly ElementSlot[] {
  const holder = holderOf(node)
  if (holder === undefined) return []
  const slots: ElementSlot[] = []
  for (const key of Object.keys(holder)) {
    const name = key.startsWith('_') ? key.slice(1) : key
    if (name !== key && Object.hasOwn(holder, name)) continue
    const slot = node.type === ANY_TYPE ? untypedSlot(name, holder) : node.type.members.get(name)
    if (slot !== undefined) slots.push(slot)
  }
  return slots
}

function hasUntyped(node: FhirNode, name: string): boolean {
  const holder = holderOf(node)
  return node.type === ANY_TYPE && holder !== undefined && (Object.hasOwn(holder, name) || Object.hasOwn(holder, `_${name}`))
}

function untypedSlot(name: string, holder: unknown): ElementSlot {
  const isCollection = isObject(holder) && Object.hasOwn(holder, name) && Array.isArray(holder[name])
  return elementSlot({ name, jsonName: name, type: ANY_TYPE.name, isCollection, isChoice: false })
}
