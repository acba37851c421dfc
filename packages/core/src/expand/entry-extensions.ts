import { objectsAt, stringAt, type JsonObject } from '../json/index.js'
import { CONCEPT_PROPERTIES } from '../terminology/index.js'
import type { EntryProperty } from './expansion.js'

const BASE = 'http://hl7.org/fhir/StructureDefinition'

/** Extensions that go from a concept to its entry as they are. */
const COPIED: ReadonlySet<string> = new Set([
  `${BASE}/rendering-style`,
  `${BASE}/rendering-xhtml`,
  `${BASE}/valueset-concept-definition`,
  `${BASE}/valueset-deprecated`,
])

/** Copied from the list of codes in a value set only; of the code system it is the status of the concept. */
const STANDARDS_STATUS = `${BASE}/structuredefinition-standards-status`

/** Extensions that are written as a property: its code, and the type of its value. */
const AS_PROPERTY: ReadonlyMap<string, readonly ['order' | 'label' | 'weight', 'valueDecimal' | 'valueString']> = new Map([
  [`${BASE}/codesystem-conceptOrder`, ['order', 'valueDecimal']],
  [`${BASE}/valueset-conceptOrder`, ['order', 'valueDecimal']],
  [`${BASE}/codesystem-label`, ['label', 'valueString']],
  [`${BASE}/valueset-label`, ['label', 'valueString']],
  [`${BASE}/itemWeight`, ['weight', 'valueDecimal']],
])

const URIS = {
  order: `${CONCEPT_PROPERTIES}#order`,
  label: `${CONCEPT_PROPERTIES}#label`,
  weight: `${CONCEPT_PROPERTIES}#itemWeight`,
} as const

/** Designation extensions that go along with a designation. */
const OF_DESIGNATIONS: ReadonlySet<string> = new Set([`${BASE}/coding-sctdescid`, STANDARDS_STATUS])

/**
 * The extensions of an entry.
 *
 * @param elements What is said about the concept; later elements win over earlier ones.
 * @param listed The element in the value set's list of codes, when there is one.
 */
export function copiedExtensions(elements: readonly JsonObject[], listed: JsonObject | undefined): readonly JsonObject[] {
  if (elements.length === 0) return []
  const all = elements.flatMap((element) => objectsAt(element, 'extension').filter((item) => COPIED.has(stringAt(item, 'url') ?? '')))
  const status = objectsAt(listed, 'extension').filter((item) => stringAt(item, 'url') === STANDARDS_STATUS)
  return [...new Map([...all, ...status].map((item) => [stringAt(item, 'url'), item])).values()]
}

/** The properties that extensions of a concept stand for; later elements win over earlier ones. */
export function extensionProperties(elements: readonly JsonObject[]): readonly EntryProperty[] {
  if (elements.length === 0) return []
  const found = elements.flatMap((element) => objectsAt(element, 'extension').flatMap(asProperty))
  return [...new Map(found.map((property) => [property.code, property])).values()]
}

/** The extensions that a designation keeps. */
export function designationExtensions(extensions: readonly JsonObject[]): readonly JsonObject[] {
  return extensions.filter((item) => OF_DESIGNATIONS.has(stringAt(item, 'url') ?? ''))
}

function asProperty(extension: JsonObject): readonly EntryProperty[] {
  const row = AS_PROPERTY.get(stringAt(extension, 'url') ?? '')
  const value = extension['valueDecimal'] ?? extension['valueInteger'] ?? extension['valueString']
  if (row === undefined || value === undefined) return []
  const [code, type] = row
  return [{ code, uri: URIS[code], value: [type, value] }]
}
