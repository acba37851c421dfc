import type { ConceptStatus, SystemHeader } from '../../code-system/index.js'
import { extensionAt, objectsAt, stringAt, type JsonObject, isObject } from '../../json/index.js'

/** The code system of the standard concept properties, which properties refer to by uri. */
export const CONCEPT_PROPERTIES = 'http://hl7.org/fhir/concept-properties'
/** The extension by which an element of a definition states its standards status, such as `deprecated`. */
export const STANDARDS_STATUS = 'http://hl7.org/fhir/StructureDefinition/structuredefinition-standards-status'

const PLAIN: ConceptStatus = { inactive: false, abstract: false }

/** Creates a function that reads the status of concepts of one code system, whatever names the system gives to the properties. */
export function statusReader(resource: JsonObject): (concept: JsonObject) => ConceptStatus {
  const names = {
    status: propertyCodes(resource, 'status'),
    inactive: propertyCodes(resource, 'inactive'),
    abstract: propertyCodes(resource, 'notSelectable'),
  }
  const known = new Set(Object.values(names).flat())
  return (concept) => {
    if (concept['property'] === undefined && concept['extension'] === undefined) return PLAIN
    const properties = objectsAt(concept, 'property').filter((property) => known.has(stringAt(property, 'code') ?? ''))
    const standards = standardsStatusOf(concept)
    return properties.length === 0 && standards === undefined ? PLAIN : statusOf(properties, names, standards)
  }
}

type StatusNames = Readonly<Record<'status' | 'inactive' | 'abstract', readonly string[]>>

function statusOf(properties: readonly JsonObject[], names: StatusNames, standards: string | undefined): ConceptStatus {
  const flagged = (codes: readonly string[]): boolean => valuesOf(properties, codes).includes(true)
  const stated = valuesOf(properties, names.status).find((value) => typeof value === 'string')
  // The property is a boolean. Some code systems declare it as a code; HL7's tools read both in the same way.
  const isInactive = valuesOf(properties, names.inactive).some((value) => value === true || value === 'true')
  const isWithdrawn = stated === undefined && standards === 'withdrawn'
  const inactive = isInactive || isWithdrawn || stated === 'retired' || stated === 'inactive'
  const status = stated ?? standards ?? (inactive ? 'inactive' : undefined)
  return { inactive, abstract: flagged(names.abstract), ...(status !== undefined && { status }) }
}

/** Returns the codes that a code system uses for a standard property: its own codes for the uri, and the standard name. */
export function propertyCodes(resource: JsonObject, name: string): readonly string[] {
  const declared = objectsAt(resource, 'property')
    .filter((property) => stringAt(property, 'uri') === `${CONCEPT_PROPERTIES}#${name}`)
    .flatMap((property) => stringAt(property, 'code') ?? [])
  return [...new Set([...declared, name])]
}

/** Returns the properties that a CodeSystem or a supplement declares. */
export function declaredProperties(resource: JsonObject): Required<Pick<SystemHeader, 'properties' | 'propertyTypes'>> {
  const declared = objectsAt(resource, 'property').map((item) => ({ code: stringAt(item, 'code') ?? '', item }))
  return {
    properties: new Map(declared.map(({ code, item }) => [code, stringAt(item, 'uri')])),
    propertyTypes: new Map(declared.map(({ code, item }) => [code, stringAt(item, 'type') ?? ''])),
  }
}

/** Reads the extension structuredefinition-standards-status of an element. */
export function standardsStatusOf(element: JsonObject): string | undefined {
  if (element['extension'] === undefined) return undefined
  return stringAt(extensionAt(element, STANDARDS_STATUS), 'valueCode')
}

function valuesOf(properties: readonly JsonObject[], codes: readonly string[]): readonly unknown[] {
  return properties
    .filter((property) => codes.includes(stringAt(property, 'code') ?? ''))
    .map((property) => property['valueBoolean'] ?? property['valueCode'] ?? property['valueString'])
}

const CHOICES = ['valueCode', 'valueString', 'valueBoolean', 'valueInteger', 'valueDecimal', 'valueDateTime', 'valueCoding'] as const

/** Returns the `value[x]` of a concept's property: name and value. */
export function propertyValue(property: JsonObject): readonly [string, unknown] | undefined {
  const choice = CHOICES.find((name) => property[name] !== undefined)
  return choice === undefined ? undefined : [choice, property[choice]]
}

/** Returns the texts that filters compare with a value: a Coding by its code, and by system and code in the form of a token (`system|code`). */
export function filterTexts(property: JsonObject): readonly string[] {
  const text = propertyText(property)
  if (text === undefined) return []
  const coding = property['valueCoding']
  return isObject(coding) ? [text, `${stringAt(coding, 'system') ?? ''}|${text}`] : [text]
}

/** Returns the value as text: that of a primitive, the code of a Coding. */
export function propertyText(property: JsonObject): string | undefined {
  const value = propertyValue(property)?.[1]
  if (isObject(value)) return stringAt(value, 'code')
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}
