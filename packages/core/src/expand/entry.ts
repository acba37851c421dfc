import type { Extension } from 'fhir/r4.js'
import { objectsAt, stringAt, type JsonObject } from '../json/index.js'
import {
  conceptTexts,
  mainText,
  propertyValue,
  shownText,
  CONCEPT_PROPERTIES,
  PREFERRED_FOR_LANGUAGE,
  STANDARDS_STATUS,
  statedTexts,
  type CodeSystemProvider,
  type ConceptText,
  type LanguageList,
  type ListedCode,
  type Segment,
} from '../terminology/index.js'
import type { EntryProperty, ExpansionEntry } from './result.js'

/** How entries are written. */
export interface EntryStyle {
  readonly languages: LanguageList | undefined
  /** Selects designations; absent when they are not requested. */
  readonly designations: ((text: ConceptText) => boolean) | undefined
  readonly properties: readonly string[]
  /** Systems whose version is shown. */
  readonly versioned: ReadonlySet<string>
}

/** Creates the expansion entry of a concept. */
export function entryOf(segment: Segment, concept: number, style: EntryStyle): ExpansionEntry {
  const { provider } = segment
  const { header } = provider
  const listed = segment.listed?.get(concept)
  const { shown, designations } = textsOf(segment, concept, style)
  const { abstract, inactive, status } = provider.status(concept)
  const elements = extendedElements(provider, concept, listed)
  return {
    system: header.url,
    ...(style.versioned.has(header.url) && header.version !== undefined && { version: header.version }),
    code: provider.code(concept),
    ...(shown !== undefined && { display: shown.value }),
    abstract,
    inactive,
    designations,
    properties: propertiesOf(segment, concept, { status, elements, asked: style.properties }),
    extensions: copiedExtensions(elements, listed?.concept),
    contains: NONE,
  }
}

interface Stated {
  readonly status: string | undefined
  readonly elements: readonly JsonObject[]
  /** Codes of the requested properties. */
  readonly asked: readonly string[]
}

function propertiesOf({ provider }: Segment, concept: number, { status, elements, asked }: Stated): readonly EntryProperty[] {
  if (status === undefined && asked.length === 0 && elements.length === 0) return NONE
  return [...statusProperty(status, asked), ...askedProperties(provider, concept, asked), ...extensionProperties(elements)]
}

interface Texts {
  readonly shown: ConceptText | undefined
  readonly designations: readonly ConceptText[]
}

/** Reads designations only where they are requested or may be shown; most expansions need only displays. */
function textsOf({ provider, listed }: Segment, concept: number, { languages, designations }: EntryStyle): Texts {
  const entry = listed?.get(concept)
  if (languages === undefined && designations === undefined) return { shown: mainText(provider, concept, entry), designations: NONE }
  const texts = conceptTexts(provider, concept, entry)
  const shown = shownText(texts, languages)
  return { shown, designations: designations === undefined ? NONE : otherTexts(texts, shown, designations) }
}

/** Returns the definitions of the concept that have extensions, that of the value set last. */
export function extendedElements(provider: CodeSystemProvider, concept: number, listed: ListedCode | undefined): readonly JsonObject[] {
  let elements: JsonObject[] | undefined
  for (const source of provider.sources(concept)) if (source.concept['extension'] !== undefined) (elements ??= []).push(source.concept)
  if (listed?.concept['extension'] !== undefined) (elements ??= []).push(listed.concept)
  return elements ?? NONE
}

/** Creates a filter for designations with one of these languages or uses; when none are given, for all that are not minor. */
export function designationFilter(asked: readonly string[]): (text: ConceptText) => boolean {
  if (asked.length === 0) return ({ minor }) => minor !== true
  return ({ language, use }) =>
    asked.some((token) => {
      const bar = token.lastIndexOf('|')
      const [system, code] = [token.slice(0, Math.max(bar, 0)), token.slice(bar + 1)]
      const isLanguage = language !== undefined && (code.toLowerCase() === language.toLowerCase() || (code === '' && system !== ''))
      const isUse = use !== undefined && (code === stringAt(use, 'code') || (code === '' && system !== ''))
      // As in a search, a token without bar matches in any system, and one without code any code of the system.
      if (bar < 0) return isLanguage || isUse
      return system === 'urn:ietf:bcp:47' ? isLanguage : isUse && (stringAt(use, 'system') ?? '') === system
    })
}

/** Returns the texts other than the display shown. A main display that is not shown because of its language becomes a designation. */
function otherTexts(
  texts: readonly ConceptText[],
  shown: ConceptText | undefined,
  accept: (text: ConceptText) => boolean,
): readonly ConceptText[] {
  return texts
    .filter((text) => text !== shown)
    .map((text) => (text.main ? { ...text, use: PREFERRED_FOR_LANGUAGE } : text))
    .filter(accept)
}

/** The status `active` is returned only when it is requested. */
function statusProperty(status: string | undefined, asked: readonly string[]): readonly EntryProperty[] {
  if (status === undefined || (status === 'active' && !asked.includes('status'))) return []
  return [{ code: 'status', uri: `${CONCEPT_PROPERTIES}#status`, value: ['valueCode', status] }]
}

function askedProperties(provider: CodeSystemProvider, concept: number, asked: readonly string[]): readonly EntryProperty[] {
  return asked.flatMap((code) => {
    if (code === 'status') return []
    if (code === 'definition') return definitionProperty(provider, concept)
    if (code === 'parent' || code === 'child') return relatives(provider, concept, code)
    return statedProperties(provider, concept, code)
  })
}

function definitionProperty(provider: CodeSystemProvider, concept: number): readonly EntryProperty[] {
  const [definition] = statedTexts(provider, concept, 'definition')
  if (definition === undefined) return []
  return [{ code: 'definition', uri: `${CONCEPT_PROPERTIES}#definition`, value: ['valueString', definition] }]
}

/** Returns the parents or children of the concept in the hierarchy, whichever way the system states it. */
function relatives(provider: CodeSystemProvider, concept: number, code: 'parent' | 'child'): readonly EntryProperty[] {
  const { hierarchy, header } = provider
  const uri = header.properties.get(code) ?? `${CONCEPT_PROPERTIES}#${code}`
  const others = code === 'parent' ? hierarchy.parents(concept) : hierarchy.children(concept)
  return others.map((other) => ({ code, uri, value: ['valueCode', provider.code(other)] }))
}

function statedProperties(provider: CodeSystemProvider, concept: number, code: string): readonly EntryProperty[] {
  const uri = provider.header.properties.get(code)
  return provider
    .sources(concept)
    .flatMap((source) => objectsAt(source.concept, 'property'))
    .filter((property) => stringAt(property, 'code') === code)
    .flatMap((property) => {
      const value = propertyValue(property)
      return value === undefined ? [] : [{ code, ...(uri !== undefined && { uri }), value }]
    })
}

const BASE = 'http://hl7.org/fhir/StructureDefinition'

/** Extensions that are copied unchanged from a concept to its entry. */
const COPIED: ReadonlySet<string> = new Set([
  `${BASE}/rendering-style`,
  `${BASE}/rendering-xhtml`,
  `${BASE}/valueset-concept-definition`,
  `${BASE}/valueset-deprecated`,
])

/** Extensions that become a property: its code and the type of its value. */
const AS_PROPERTY: ReadonlyMap<string, readonly ['order' | 'label' | 'weight', 'valueDecimal' | 'valueString']> = new Map([
  [`${BASE}/codesystem-conceptOrder`, ['order', 'valueDecimal']],
  [`${BASE}/valueset-conceptOrder`, ['order', 'valueDecimal']],
  [`${BASE}/codesystem-label`, ['label', 'valueString']],
  [`${BASE}/valueset-label`, ['label', 'valueString']],
  [`${BASE}/itemWeight`, ['weight', 'valueDecimal']],
])

/** Properties that result from extensions of a concept: code to uri. */
export const EXTENSION_PROPERTIES: Readonly<Record<'order' | 'label' | 'weight', string>> = {
  order: `${CONCEPT_PROPERTIES}#order`,
  label: `${CONCEPT_PROPERTIES}#label`,
  weight: `${CONCEPT_PROPERTIES}#itemWeight`,
}

/**
 * Returns the extensions of an entry; later elements override earlier ones.
 *
 * @param elements The definitions of the concept that have extensions.
 * @param listed The element in the value set's list of codes, when there is one.
 */
function copiedExtensions(elements: readonly JsonObject[], listed: JsonObject | undefined): readonly Extension[] {
  if (elements.length === 0) return NONE
  const all = elements.flatMap((element) => extensionsOf(element, (url) => COPIED.has(url)))
  // In the code system, this extension is the status of the concept.
  const status = listed === undefined ? [] : extensionsOf(listed, (url) => url === STANDARDS_STATUS)
  return [...new Map([...all, ...status].map((item) => [item.url, item])).values()]
}

function extensionsOf(element: JsonObject, isWanted: (url: string) => boolean): readonly Extension[] {
  return objectsAt(element, 'extension').flatMap((item) => {
    const url = stringAt(item, 'url')
    return url !== undefined && isWanted(url) ? [{ ...item, url }] : []
  })
}

/** Returns the properties that result from extensions of a concept; later elements override earlier ones. */
function extensionProperties(elements: readonly JsonObject[]): readonly EntryProperty[] {
  if (elements.length === 0) return NONE
  const found = elements.flatMap((element) => objectsAt(element, 'extension').flatMap(asProperty))
  return [...new Map(found.map((property) => [property.code, property])).values()]
}

const NONE: readonly never[] = []

function asProperty(extension: JsonObject): readonly EntryProperty[] {
  const row = AS_PROPERTY.get(stringAt(extension, 'url') ?? '')
  const value = extension['valueDecimal'] ?? extension['valueInteger'] ?? extension['valueString']
  if (row === undefined || value === undefined) return []
  const [code, type] = row
  return [{ code, uri: EXTENSION_PROPERTIES[code], value: [type, value] }]
}
