/** The value types of FHIRPath itself. */
export type SystemType = 'Boolean' | 'String' | 'Integer' | 'Decimal' | 'Date' | 'DateTime' | 'Time' | 'Quantity'

/** One concrete form of an element: a choice element has one for each of its types. */
export interface SlotParts {
  /** Name in FHIRPath: `value` for `value[x]`. */
  readonly name: string
  /** Name in JSON: `valueQuantity`. */
  readonly jsonName: string
  /** Name of its `TypeDefinition`; a backbone element has one named after its path (`Patient.contact`). */
  readonly type: string
  readonly isCollection: boolean
  readonly isChoice: boolean
}

/** A slot of a finished type. */
export interface ElementSlot extends SlotParts {
  /** JSON name of the sibling that holds a primitive's id and extensions: `_birthDate`. */
  readonly siblingName: string
}

/** What the engine knows of a type. Inherited elements are listed too. */
export interface TypeDefinition {
  /** `Patient`, `HumanName`, `code`, `Patient.contact`. */
  readonly name: string
  /** Absent at the top of the hierarchy. */
  readonly base?: string
  readonly kind: 'primitive' | 'complex' | 'resource'
  /** What a value of this type converts to: on primitives, and on Quantity and its specialisations. */
  readonly system?: SystemType
  /** By name in FHIRPath. */
  readonly elements: ReadonlyMap<string, readonly ElementSlot[]>
  /** By name in JSON. */
  readonly members: ReadonlyMap<string, ElementSlot>
}

/** The types of one FHIR release. Called often: an implementation answers from a map. */
export interface TypeModel {
  type(name: string): TypeDefinition | undefined
  /** Of all types, those of nested elements too. */
  names(): Iterable<string>
}

/** The parts from which a type is made. */
export interface TypeParts {
  readonly name: string
  readonly base?: string
  readonly kind: TypeDefinition['kind']
  readonly system?: SystemType
  readonly slots: readonly SlotParts[]
}

/** Makes a type, indexing its slots by both names. */
export function typeDefinition({ slots: partial, ...parts }: TypeParts): TypeDefinition {
  const slots = partial.map(elementSlot)
  const elements = new Map<string, ElementSlot[]>()
  for (const slot of slots) {
    const known = elements.get(slot.name)
    if (known === undefined) elements.set(slot.name, [slot])
    else known.push(slot)
  }
  return { ...parts, elements, members: new Map(slots.map((slot) => [slot.jsonName, slot])) }
}

/** Completes a slot. */
export function elementSlot(parts: SlotParts): ElementSlot {
  const [name, jsonName] = [memberName(parts.name), memberName(parts.jsonName)]
  return { ...parts, name, jsonName, siblingName: memberName(`_${jsonName}`) }
}

/**
 * The same text as the engine has it that is the name of a member of an object. With a text that was put together, each look into an object
 * would first search this one: bench `validate`.
 */
function memberName(text: string): string {
  const [name = text] = Object.keys({ [text]: true })
  return name
}

/** The type of what no model describes: navigation follows JSON names, values convert by their JSON type. */
export const ANY_TYPE: TypeDefinition = typeDefinition({ name: 'Any', kind: 'complex', slots: [] })

/** A model that knows no type, for JSON that is not FHIR. */
export const UNTYPED_MODEL: TypeModel = { type: () => undefined, names: () => [] }

/** Whether `type` is the named type or derives from it. */
export function isSubtype(model: TypeModel, type: TypeDefinition, name: string): boolean {
  let current: TypeDefinition | undefined = type
  while (current !== undefined && current.name !== name) {
    current = current.base === undefined ? undefined : model.type(current.base)
  }
  return current !== undefined
}
