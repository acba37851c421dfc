import { objectsAt, stringAt, type JsonObject, extensionAt, isObject } from '../../json/index.js'
import { ascendingBitmap, rangeBitmap, testedBitmap, type Bitmap } from '../../bits/index.js'
import { finished, sharedWork, type Work } from '../../work/index.js'
import type { ConceptStatus, ConceptIndex, ConceptSource, SystemHeader } from '../../code-system/index.js'
import { textIndex } from './text-index.js'

/** The concepts to index. */
interface Indexed {
  readonly size: number
  readonly sources: (concept: number) => readonly ConceptSource[]
  readonly status: (concept: number) => ConceptStatus
}

/** Creates the index of a code system; its parts are built at first use. */
export function conceptIndex({ size, sources, status }: Indexed): ConceptIndex {
  const all = rangeBitmap(0, size, size)
  const columns = new Map<string, () => Work<ReadonlyMap<string, Bitmap>>>()
  const column = (property: string): Work<ReadonlyMap<string, Bitmap>> => {
    const known = columns.get(property) ?? sharedWork(() => columnOf(property, size, sources))
    columns.set(property, known)
    return known()
  }
  const inactive = sharedWork(() => testedBitmap(size, (concept) => status(concept).inactive))
  const own = (concept: number): JsonObject => sources(concept)[0]?.concept ?? {}
  const texts = sharedWork(() =>
    textIndex({
      size,
      display: (concept) => stringAt(own(concept), 'display'),
      code: (concept) => stringAt(own(concept), 'code') ?? '',
      texts: (concept) => searchedTexts(sources(concept)),
    }),
  )
  return {
    size,
    all: () => all,
    inactive: () => finished(inactive()),
    buildInactive: inactive,
    values: (property) => finished(column(property)),
    buildValues: column,
    buildTexts: texts,
    withWord: (word) => finished(texts()).find(word),
    words: (start) => finished(texts()).words(start),
    displayOrder: () => finished(texts()).order,
  }
}

/** Returns all texts of a concept that a text filter searches. */
export function searchedTexts(sources: readonly ConceptSource[]): readonly string[] {
  const texts: string[] = []
  for (const { concept } of sources) {
    const [display, code] = [stringAt(concept, 'display'), stringAt(concept, 'code')]
    if (display !== undefined) texts.push(display)
    if (code !== undefined) texts.push(code)
    if (concept['designation'] === undefined) continue
    for (const designation of objectsAt(concept, 'designation')) texts.push(stringAt(designation, 'value') ?? '')
  }
  return texts
}

const STEPS = 256

function* columnOf(property: string, size: number, sources: Indexed['sources']): Work<ReadonlyMap<string, Bitmap>> {
  const places = new Map<string, number[]>()
  for (let concept = 0; concept < size; concept++) {
    if (concept % STEPS === 0) yield
    for (const value of new Set(propertyTexts(sources(concept), property))) {
      const list = places.get(value)
      if (list === undefined) places.set(value, [concept])
      else list.push(concept)
    }
  }
  const column = new Map<string, Bitmap>()
  for (const [value, list] of places) {
    if (column.size % STEPS === 0) yield
    column.set(value, ascendingBitmap(list, size))
  }
  return column
}

/** Returns the values of a property of a concept, as filters compare them. */
export function propertyTexts(sources: readonly ConceptSource[], property: string): readonly string[] {
  const texts: string[] = []
  for (const { concept } of sources) {
    if (concept['property'] === undefined) continue
    for (const item of objectsAt(concept, 'property')) {
      if (item['code'] === property) texts.push(...filterTexts(item))
    }
  }
  return texts
}

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
function filterTexts(property: JsonObject): readonly string[] {
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
