import type { ElementSlot, TypeDefinition, TypeModel } from '../../../../fhirpath/index.js'

/** What the types of the release have at the path of an ElementDefinition. */
export interface ElementPlace {
  /** One for each type that the element can have; empty at the root. */
  readonly slots: readonly ElementSlot[]
  readonly types: readonly TypeDefinition[]
}

/**
 * Follows a path such as `Patient.name.family`, `Observation.value[x]` or `Observation.valueQuantity.unit`.
 *
 * @returns `undefined` when the types have no such element, or do not know the type at its start.
 */
export function placeOf(model: TypeModel, path: string): ElementPlace | undefined {
  const [root = '', ...steps] = path.split('.')
  const start = model.type(root)
  let place: ElementPlace | undefined = start === undefined ? undefined : { slots: [], types: [start] }
  for (const step of steps) place = place && (isOwnValue(place, step) ? place : stepInto(model, place.types, step))
  return place
}

/** Definitions of primitive types, and profiles on them, have the value itself as an element. */
function isOwnValue({ types }: ElementPlace, step: string): boolean {
  return step === 'value' && types.length > 0 && types.every(({ kind }) => kind === 'primitive')
}

/** The elements of a name in any of some types. */
export function stepInto(model: TypeModel, types: readonly TypeDefinition[], step: string): ElementPlace | undefined {
  const name = step.endsWith('[x]') ? step.slice(0, -3) : step
  const slots = types.flatMap((type) => slotsOf(type, name))
  return slots.length === 0 ? undefined : { slots, types: slots.flatMap(({ type }) => model.type(type) ?? []) }
}

function slotsOf(type: TypeDefinition, name: string): readonly ElementSlot[] {
  const member = type.members.get(name)
  return type.elements.get(name) ?? (member === undefined ? [] : [member])
}
