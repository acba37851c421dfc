import { extensionAt, objectAt, objectsAt, stringAt, type JsonObject } from '../json/index.js'
import { choiceName, TYPE_URL } from '../text/index.js'
import { SYSTEM_TYPE_NAMES, typeDefinition, type SlotParts, type SystemType, type TypeDefinition, type TypeModel } from './model.js'

const SYSTEM_PREFIX = 'http://hl7.org/fhirpath/System.'
const FHIR_TYPE = `${TYPE_URL}structuredefinition-fhir-type`

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
    const fhirType = extensionAt(type, FHIR_TYPE)
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
