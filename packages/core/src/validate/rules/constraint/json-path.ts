import type { Ast, ElementSlot, TypeDefinition, TypeModel } from '../../../fhirpath/index.js'
import { isObject, stringAt, type JsonObject } from '../../../json/index.js'

/** Returns the number of items at a path in a value; `undefined` when JSON alone cannot determine it. */
export type Count = (value: JsonObject) => number | undefined

/** A type, and the model that has the types of its elements. */
export interface TypedValue {
  readonly model: TypeModel
  readonly type: TypeDefinition
}

/** The names of a path of elements, which may contain `select`; `undefined` for other expressions. */
export function namesOf(ast: Ast): readonly string[] | undefined {
  if (ast.kind === 'call' && ast.name === 'select' && ast.target !== undefined && ast.args.length === 1) {
    const [before, selected] = [namesOf(ast.target), ast.args[0] && namesOf(ast.args[0])]
    return before && selected && [...before, ...selected]
  }
  if (ast.kind === 'call' && isTrace(ast.name, ast.args) && ast.target !== undefined) return namesOf(ast.target)
  if (ast.kind !== 'member') return undefined
  if (ast.target === undefined) return [ast.name]
  const before = namesOf(ast.target)
  return before && [...before, ast.name]
}

/** True for a trace with only a label, which changes nothing. */
export function isTrace(name: string, [label, ...others]: readonly Ast[]): boolean {
  return name === 'trace' && label?.kind === 'literal' && label.literal.type === 'string' && others.length === 0
}

/** The slot of an element with a single type. A name that begins with a capital is excluded, because it may name a type. */
export function onlySlot({ elements }: TypeDefinition, name: string): ElementSlot | undefined {
  const slots = /^[a-z]/.test(name) ? elements.get(name) : undefined
  return slots?.length === 1 ? slots[0] : undefined
}

/** Creates the function that counts the items at a path in values of a type. */
export function countAt([name = '', ...rest]: readonly string[], { model, type }: TypedValue): Count {
  const slots = /^[a-z]/.test(name) ? type.elements.get(name) : undefined
  if (slots === undefined) return () => undefined
  const count = slotCount(model, slots)
  if (rest.length === 0) return count
  const [slot] = slots
  const inner = slot === undefined || slots.length > 1 ? undefined : model.type(slot.type)
  const below = inner === undefined ? undefined : countIn(rest, { model, type: inner })
  return (value) => {
    const found = count(value)
    if (found === 0 || found === undefined) return found
    return slot === undefined || below === undefined ? undefined : sum(value[slot.jsonName], below)
  }
}

/** Counts the items at a path in a value of a type; in a resource, by the type that the resource states. */
function countIn(names: readonly string[], { model, type }: TypedValue): Count | undefined {
  if (type.kind !== 'resource') return type.kind === 'complex' ? countAt(names, { model, type }) : undefined
  const known = new Map<TypeDefinition, Count>()
  return (value) => {
    const own = model.type(stringAt(value, 'resourceType') ?? '')
    if (own?.kind !== 'resource') return undefined
    const count = known.get(own) ?? countAt(names, { model, type: own })
    known.set(own, count)
    return count(value)
  }
}

function sum(values: unknown, below: Count): number | undefined {
  let total = 0
  for (const one of Array.isArray(values) ? values : [values]) {
    const count = isObject(one) ? below(one) : undefined
    if (count === undefined) return undefined
    total += count
  }
  return total
}

/** Adds the texts at a path. False if there is anything else. */
export type Texts = (value: JsonObject, into: string[]) => boolean

/** The texts at a path of elements; `undefined` where the path does not lead to texts. */
export function textsAt([name = '', ...rest]: readonly string[], { model, type }: TypedValue): Texts | undefined {
  const slot = onlySlot(type, name)
  const inner = slot && model.type(slot.type)
  if (slot === undefined || inner === undefined) return undefined
  const isText = rest.length === 0 && inner.system === 'String'
  const below = rest.length > 0 && inner.kind === 'complex' ? textsAt(rest, { model, type: inner }) : undefined
  if (!isText && below === undefined) return undefined
  return (value, into) => {
    const member = value[slot.jsonName]
    if (value[slot.siblingName] !== undefined || member === null) return false
    for (const one of member === undefined ? [] : Array.isArray(member) ? member : [member]) {
      if (isText && typeof one === 'string') into.push(one)
      else if (below === undefined || !isObject(one) || !below(one, into)) return false
    }
    return true
  }
}

const FEW = 8

/** A slot, and whether its type is primitive. */
interface KnownSlot {
  readonly slot: ElementSlot
  readonly isPrimitive: boolean
}

function slotCount(model: TypeModel, slots: readonly ElementSlot[]): Count {
  const known = slots.map((slot): KnownSlot => ({ slot, isPrimitive: model.type(slot.type)?.kind === 'primitive' }))
  if (slots.length > FEW) return countOfMany(new Map(known.map((one) => [one.slot.jsonName, one])))
  return (value) => {
    let count = 0
    for (const one of known) {
      const own = countOfSlot(value, one)
      if (own === undefined) return undefined
      count += own
    }
    return count
  }
}

/** Goes through the members of the value, which are fewer than the types of a large choice, such as the fifty of an extension's value. */
function countOfMany(slots: ReadonlyMap<string, KnownSlot>): Count {
  return (value) => {
    let count = 0
    for (const key of Object.keys(value)) {
      const name = key.startsWith('_') ? key.slice(1) : key
      const slot = name !== key && Object.hasOwn(value, name) ? undefined : slots.get(name)
      const own = slot === undefined ? 0 : countOfSlot(value, slot)
      if (own === undefined) return undefined
      count += own
    }
    return count
  }
}

/** What has no content is not there for FHIRPath, which then counts. */
function countOfSlot(value: JsonObject, { slot: { jsonName, siblingName }, isPrimitive }: KnownSlot): number | undefined {
  const member = value[jsonName]
  const length = lengthOf(member)
  if (length === 0) return lengthOf(value[siblingName])
  if (isPrimitive || (Array.isArray(member) ? member.every(hasContent) : hasContent(member))) return length
  return undefined
}

/** True for an object with members. */
function hasContent(value: unknown): value is JsonObject {
  if (isObject(value)) for (const name in value) if (Object.hasOwn(value, name)) return true
  return false
}

function lengthOf(member: unknown): number {
  if (member === undefined || member === null || typeof member === 'function') return 0
  return Array.isArray(member) ? member.length : 1
}

/** The objects that a path leads to. */
interface JsonItems {
  /** The type of all of them. */
  readonly type: TypeDefinition
  /** Adds the objects. False when JSON alone cannot determine them, or there are too many. */
  readonly addTo: (value: JsonObject, into: JsonObject[]) => boolean
}

/** Creates the test whether a criterion holds for an item; `undefined` when JSON alone cannot decide. */
export type MakeCriterion = (criterion: Ast, typed: TypedValue) => (item: JsonObject) => boolean | undefined

/** Maximum number of items. More are left to the evaluation, which lets other requests run. */
const MOST_ITEMS = 1_000

/** The objects of a path with selections, such as `element.where(min = 1).first()`; `undefined` for other expressions. */
export function itemsAt(ast: Ast, typed: TypedValue, criterion: MakeCriterion): JsonItems | undefined {
  if (ast.kind === 'member') return membersAt(ast, typed, criterion)
  if (ast.kind === 'binary') return ast.operator === '|' ? unionOf(ast, typed, criterion) : undefined
  if (ast.kind !== 'call' || ast.target === undefined) return undefined
  const among = itemsAt(ast.target, typed, criterion)
  if (among === undefined || isTrace(ast.name, ast.args)) return among
  const [only, ...others] = ast.args
  if (ast.name === 'first' && only === undefined) return firstOf(among)
  if (ast.name !== 'where' || only === undefined || others.length > 0) return undefined
  return selected(among, criterion(only, { model: typed.model, type: among.type }))
}

/** The objects of two paths joined by `|`. FHIRPath counts equal items once, this function each; whether there are any is the same. */
function unionOf({ left, right }: Ast & { kind: 'binary' }, typed: TypedValue, criterion: MakeCriterion): JsonItems | undefined {
  const [first, second] = [itemsAt(left, typed, criterion), itemsAt(right, typed, criterion)]
  if (first === undefined || second === undefined || first.type !== second.type) return undefined
  return { type: first.type, addTo: (value, into) => first.addTo(value, into) && second.addTo(value, into) }
}

function membersAt(ast: Ast & { kind: 'member' }, typed: TypedValue, criterion: MakeCriterion): JsonItems | undefined {
  const { name, target } = ast
  if (target === undefined) return itemsIn(typed, name)
  if (target.kind === 'binary') {
    const [left, right] = [target.left, target.right].map((side): Ast => ({ ...ast, target: side }))
    return left && right && itemsAt({ ...target, left, right }, typed, criterion)
  }
  if (target.kind === 'call' && target.name === 'children' && target.target === undefined) return grandchildren(typed, name)
  const outer = itemsAt(target, typed, criterion) ?? resourcesAt(target, typed)
  const inner = outer && itemsIn({ model: typed.model, type: outer.type }, name)
  return outer && inner && { type: inner.type, addTo: (value, into) => addWithin(value, outer, inner, into) }
}

/**
 * The resources in an element, as a step of a path: by their common type, only elements that all resources have can be found in them. Those whose own type is
 * not known cannot be decided.
 */
function resourcesAt(ast: Ast, { model, type }: TypedValue): JsonItems | undefined {
  const slot = ast.kind === 'member' && ast.target === undefined ? onlySlot(type, ast.name) : undefined
  const common = slot && model.type(slot.type)
  if (slot === undefined || common?.kind !== 'resource') return undefined
  const isResource = (one: JsonObject): boolean => model.type(stringAt(one, 'resourceType') ?? '')?.kind === 'resource'
  return { type: common, addTo: (value, into) => addObjects(value, slot, into) && into.every(isResource) }
}

function addWithin(value: JsonObject, outer: JsonItems, inner: JsonItems, into: JsonObject[]): boolean {
  const around: JsonObject[] = []
  return outer.addTo(value, around) && around.every((one) => inner.addTo(one, into))
}

/** The objects of one element. */
function itemsIn({ model, type }: TypedValue, name: string): JsonItems | undefined {
  const slot = onlySlot(type, name)
  const inner = slot && model.type(slot.type)
  return slot === undefined || inner?.kind !== 'complex'
    ? undefined
    : { type: inner, addTo: (value, into) => addObjects(value, slot, into) }
}

function addObjects(holder: JsonObject, { jsonName, siblingName }: ElementSlot, into: JsonObject[]): boolean {
  const member = holder[jsonName]
  if (holder[siblingName] !== undefined) return false
  if (member === undefined) return true
  for (const one of Array.isArray(member) ? member : [member]) {
    if (!hasContent(one) || into.length >= MOST_ITEMS) return false
    into.push(one)
  }
  return true
}

/** `children().name`, if all children that can have this element have it with one type. Resources inside cannot be decided. */
function grandchildren({ model, type }: TypedValue, name: string): JsonItems | undefined {
  const steps: { readonly outer: ElementSlot; readonly inner: JsonItems }[] = []
  const resources: string[] = []
  for (const slot of type.members.values()) {
    const child = model.type(slot.type)
    if (child?.kind === 'resource') resources.push(slot.jsonName)
    if (child === undefined || child.kind === 'resource' || !child.elements.has(name)) continue
    const inner = child.kind === 'complex' && !slot.isChoice ? itemsIn({ model, type: child }, name) : undefined
    if (inner === undefined || (steps[0] !== undefined && steps[0].inner.type !== inner.type)) return undefined
    steps.push({ outer: slot, inner })
  }
  const found = steps[0]?.inner.type
  if (found === undefined) return undefined
  return {
    type: found,
    addTo: (value, into) =>
      resources.every((one) => value[one] === undefined) && steps.every(({ outer, inner }) => addThrough(value, outer, inner, into)),
  }
}

function addThrough(value: JsonObject, outer: ElementSlot, inner: JsonItems, into: JsonObject[]): boolean {
  const around: JsonObject[] = []
  return addObjects(value, outer, around) && around.every((one) => inner.addTo(one, into))
}

function firstOf({ type, addTo }: JsonItems): JsonItems {
  return {
    type,
    addTo: (value, into) => {
      const all: JsonObject[] = []
      if (!addTo(value, all)) return false
      into.push(...all.slice(0, 1))
      return true
    },
  }
}

function selected({ type, addTo }: JsonItems, holds: (item: JsonObject) => boolean | undefined): JsonItems {
  return {
    type,
    addTo: (value, into) => {
      const all: JsonObject[] = []
      if (!addTo(value, all)) return false
      for (const one of all) {
        const isSelected = holds(one)
        if (isSelected === undefined) return false
        if (isSelected) into.push(one)
      }
      return true
    },
  }
}
