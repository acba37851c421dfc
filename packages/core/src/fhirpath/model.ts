/** The System types of FHIRPath. */
export type SystemType = (typeof SYSTEM_TYPE_NAMES)[number]

/** The names of these types. */
export const SYSTEM_TYPE_NAMES = ['Boolean', 'String', 'Integer', 'Decimal', 'Date', 'DateTime', 'Time', 'Quantity'] as const

/** A concrete form of an element: a choice element has one for each of its types. */
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

/** A type, with its inherited elements. */
export interface TypeDefinition {
  /** Name, such as `Patient`, `HumanName`, `code`, `Patient.contact`. */
  readonly name: string
  /** Absent at the top of the hierarchy. */
  readonly base?: string
  readonly kind: 'primitive' | 'complex' | 'resource'
  /** System type that values convert to: for primitives, Quantity and types derived from it. */
  readonly system?: SystemType
  /** Slots by name in FHIRPath. */
  readonly elements: ReadonlyMap<string, readonly ElementSlot[]>
  /** Slots by name in JSON. */
  readonly members: ReadonlyMap<string, ElementSlot>
}

/** The types of one FHIR release. Called often, so implementations should use a map. */
export interface TypeModel {
  type(name: string): TypeDefinition | undefined
  /** Returns the names of all types, including those of nested elements. */
  names(): Iterable<string>
  /** Set where elements without content are there for FHIRPath, as in the middle of a patch, which may fill them. */
  readonly keepsEmpty?: true
}

/** The parts of a type to create. */
export interface TypeParts {
  readonly name: string
  readonly base?: string
  readonly kind: TypeDefinition['kind']
  readonly system?: SystemType
  readonly slots: readonly SlotParts[]
}

/** Creates a type, with its slots indexed by both names. */
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
 * Returns the text as an internalized string of the JavaScript engine, as names of object members are. With a concatenated string, each access to a
 * member would first have to find the internalized one (bench `validate`).
 */
function memberName(text: string): string {
  const [name = text] = Object.keys({ [text]: true })
  return name
}

/** The type of values that no model describes: navigation uses JSON names, values convert by their JSON type. */
export const ANY_TYPE: TypeDefinition = typeDefinition({ name: 'Any', kind: 'complex', slots: [] })

/** A model without types, for JSON that is not FHIR. */
export const UNTYPED_MODEL: TypeModel = { type: () => undefined, names: () => [] }

/** True if `type` is the named type or derives from it. */
export function isSubtype(model: TypeModel, type: TypeDefinition, name: string): boolean {
  let current: TypeDefinition | undefined = type
  while (current !== undefined && current.name !== name) {
    current = current.base === undefined ? undefined : model.type(current.base)
  }
  return current !== undefined
}
