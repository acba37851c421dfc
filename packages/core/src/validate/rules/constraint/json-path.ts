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
  const count = slotCount(slots)
  if (rest.length === 0) return count
  const [slot] = slots
  const inner = slot === undefined || slots.length > 1 ? undefined : model.type(slot.type)
  const below = inner === undefined ? undefined : countIn(rest, { model, type: inner })
  return (value) => {
    if (count(value) === 0) return 0
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

const FEW = 8

function slotCount(slots: readonly ElementSlot[]): (value: JsonObject) => number {
  if (slots.length > FEW) return countOfMany(new Map(slots.map((slot) => [slot.jsonName, slot])))
  return (value) => {
    let count = 0
    for (const slot of slots) count += countOfSlot(value, slot)
    return count
  }
}

/** Goes through the members of the value, which are fewer than the types of a large choice, such as the fifty of an extension's value. */
function countOfMany(slots: ReadonlyMap<string, ElementSlot>): (value: JsonObject) => number {
  return (value) => {
    let count = 0
    for (const key of Object.keys(value)) {
      const name = key.startsWith('_') ? key.slice(1) : key
      const slot = name !== key && Object.hasOwn(value, name) ? undefined : slots.get(name)
      if (slot !== undefined) count += countOfSlot(value, slot)
    }
    return count
  }
}

function countOfSlot(value: JsonObject, { jsonName, siblingName }: ElementSlot): number {
  return lengthOf(value[jsonName]) || lengthOf(value[siblingName])
}

function lengthOf(member: unknown): number {
  if (member === undefined || member === null || typeof member === 'function') return 0
  return Array.isArray(member) ? member.length : 1
}
