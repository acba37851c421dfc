import type { ElementSlot, TypeDefinition, TypeModel } from '../../fhirpath/index.js'
import { stringAt, type JsonObject } from '../../json/index.js'
import type { Work } from '../../work/index.js'

/** The elements and types of the release at the path of an ElementDefinition. */
export interface ElementAtPath {
  /** One for each type that the element can have; empty at the root. */
  readonly slots: readonly ElementSlot[]
  readonly types: readonly TypeDefinition[]
}

/**
 * Follows a path such as `Patient.name.family`, `Observation.value[x]` or `Observation.valueQuantity.unit`.
 *
 * @returns `undefined` when the types have no such element, or do not know the type at its start.
 */
export function elementAtPath(model: TypeModel, path: string): ElementAtPath | undefined {
  const [root = '', ...steps] = path.split('.')
  const start = model.type(root)
  let place: ElementAtPath | undefined = start === undefined ? undefined : { slots: [], types: [start] }
  for (const step of steps) place = place && (isOwnValue(place, step) ? place : stepInto(model, place.types, step))
  return place
}

/** Definitions of primitive types, and profiles on them, have the value itself as an element. */
function isOwnValue({ types }: ElementAtPath, step: string): boolean {
  return step === 'value' && types.length > 0 && types.every(({ kind }) => kind === 'primitive')
}

/** The elements with a name in any of the types; `undefined` when none has it. */
export function stepInto(model: TypeModel, types: readonly TypeDefinition[], step: string): ElementAtPath | undefined {
  const name = step.endsWith('[x]') ? step.slice(0, -3) : step
  const slots = types.flatMap((type) => slotsOf(type, name))
  return slots.length === 0 ? undefined : { slots, types: slots.flatMap(({ type }) => model.type(type) ?? []) }
}

function slotsOf(type: TypeDefinition, name: string): readonly ElementSlot[] {
  const member = type.members.get(name)
  return type.elements.get(name) ?? (member === undefined ? [] : [member])
}

/**
 * The first path of a differential that the types of the release do not have. Paths into a resource of any type, or into a type that the release does not
 * know, are not checked.
 */
export function* unknownPath(model: TypeModel, type: string, elements: readonly JsonObject[]): Work<string | undefined> {
  const isKnown = model.type(type) !== undefined
  for (const element of elements) {
    yield
    const path = stringAt(element, 'path') ?? ''
    if (isKnown && !`${path}.`.startsWith(`${type}.`)) return path
    if (!mayExist(model, path) || isBareChoice(model, path)) return path
  }
  return undefined
}

/** True for a choice without `[x]` that names none of its types. */
function isBareChoice(model: TypeModel, path: string): boolean {
  const end = path.lastIndexOf('.')
  const name = path.slice(end + 1)
  if (end < 0 || name.endsWith('[x]')) return false
  const types = elementAtPath(model, path.slice(0, end))?.types ?? []
  return types.some(({ elements, members }) => !members.has(name) && elements.get(name)?.[0]?.isChoice === true)
}

/** False for a path that the types of the release do not have, and that leads neither into a resource of any type nor into an unknown type. */
export function mayExist(model: TypeModel, path: string): boolean {
  if (elementAtPath(model, path) !== undefined) return true
  const [root = '', ...steps] = path.split('.')
  return model.type(root) === undefined || steps.some((_, index) => isAnyResource(model, [root, ...steps.slice(0, index)].join('.')))
}

function isAnyResource(model: TypeModel, path: string): boolean {
  return path.includes('.') && elementAtPath(model, path)?.types.some(({ kind }) => kind === 'resource') === true
}
