import { extensionAt, objectAt, objectsAt, stringAt, type JsonObject } from '../json/index.js'
import { choiceName, TYPE_URL } from '../text/index.js'

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

const SYSTEM_PREFIX = 'http://hl7.org/fhirpath/System.'

/**
 * Creates a type model from StructureDefinitions of base types (`derivation` is not `constraint`) with snapshots; others are
 * ignored. A later definition of a type replaces an earlier one.
 */
export function modelOfDefinitions(definitions: Iterable<JsonObject>): TypeModel {
  const types = new Map<string, TypeDefinition>()
  for (const definition of definitions) {
    if (stringAt(definition, 'derivation') === 'constraint') continue
    for (const type of typesOf(definition)) types.set(type.name, type)
  }
  return { type: (name) => types.get(name), names: () => types.keys() }
}

/** Returns the type of a definition, and one type for each of its backbone elements. */
function typesOf(definition: JsonObject): readonly TypeDefinition[] {
  const root = stringAt(definition, 'type')
  const snapshot = objectAt(definition, 'snapshot')
  if (root === undefined || snapshot === undefined) return []
  const elements = objectsAt(snapshot, 'element')
  const children = childrenByParent(elements)
  const base = stringAt(definition, 'baseDefinition')
  return [...children].map(([path, slots]) => {
    if (path !== root) return typeDefinition({ name: path, base: backboneBase(elements, path), kind: 'complex', slots })
    const kind = kindOf(stringAt(definition, 'kind'))
    const system = systemOf(root, base, elements)
    return typeDefinition({
      name: root,
      kind,
      slots,
      ...(base !== undefined && { base: localName(base) }),
      ...(system !== undefined && { system }),
    })
  })
}

function kindOf(kind: string | undefined): TypeDefinition['kind'] {
  if (kind === 'primitive-type') return 'primitive'
  return kind === 'resource' ? 'resource' : 'complex'
}

function localName(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1)
}

function childrenByParent(elements: readonly JsonObject[]): Map<string, SlotParts[]> {
  const children = new Map<string, SlotParts[]>()
  for (const element of elements) {
    const path = stringAt(element, 'path') ?? ''
    const dot = path.lastIndexOf('.')
    if (dot < 0) children.set(path, [])
    else {
      const parent = path.slice(0, dot)
      const slots = children.get(parent) ?? []
      slots.push(...slotsOf(element, path))
      children.set(parent, slots)
    }
  }
  return children
}

function slotsOf(element: JsonObject, path: string): SlotParts[] {
  const name = path.slice(path.lastIndexOf('.') + 1)
  const base = objectAt(element, 'base')
  const max = stringAt(base, 'max') ?? stringAt(element, 'max')
  const isCollection = max !== '1' && max !== '0'
  const reference = stringAt(element, 'contentReference')
  if (reference !== undefined) {
    return [{ name, jsonName: name, type: reference.slice(reference.indexOf('#') + 1), isCollection, isChoice: false }]
  }
  const types = objectsAt(element, 'type').map((type) => typeName(type, path, stringAt(base, 'path')))
  if (!name.endsWith('[x]')) return types.slice(0, 1).map((type) => ({ name, jsonName: name, type, isCollection, isChoice: false }))
  const stem = name.slice(0, -3)
  return types.map((type) => ({ name: stem, jsonName: choiceName(stem, type), type, isCollection, isChoice: true }))
}

/** In R4, ids and urls have the type System.String; an extension states their FHIR type, but a wrong one for Resource.id. */
function typeName(type: JsonObject, path: string, basePath: string | undefined): string {
  const code = stringAt(type, 'code') ?? ''
  if (basePath === 'Resource.id') return 'id'
  if (code.startsWith(SYSTEM_PREFIX)) {
    const fhirType = extensionAt(type, `${TYPE_URL}structuredefinition-fhir-type`)
    return stringAt(fhirType, 'valueUrl') ?? stringAt(fhirType, 'valueUri') ?? 'string'
  }
  return code === 'BackboneElement' || code === 'Element' ? path : code.replace(TYPE_URL, '')
}

function backboneBase(elements: readonly JsonObject[], path: string): string {
  const element = elements.find((candidate) => stringAt(candidate, 'path') === path)
  return stringAt(objectsAt(element, 'type')[0], 'code') ?? 'BackboneElement'
}

/** Returns the System type: for primitives, the type of the `value` element; for Quantity and types derived from it, Quantity. */
function systemOf(root: string, base: string | undefined, elements: readonly JsonObject[]): SystemType | undefined {
  if (root === 'Quantity' || base === `${TYPE_URL}Quantity`) return 'Quantity'
  const value = elements.find((element) => stringAt(element, 'path') === `${root}.value`)
  const code = stringAt(objectsAt(value, 'type')[0], 'code') ?? ''
  const name = code.startsWith(SYSTEM_PREFIX) ? code.slice(SYSTEM_PREFIX.length) : ''
  return SYSTEM_TYPE_NAMES.find((type) => type === name)
}
