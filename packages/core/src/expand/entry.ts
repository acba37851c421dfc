import { objectsAt, stringAt, type JsonObject } from '../json/index.js'
import {
  conceptTexts,
  mainText,
  propertyValue,
  shownText,
  CONCEPT_PROPERTIES,
  type CodeSystemProvider,
  type ConceptText,
  type LanguageList,
  type ListedCode,
  type Segment,
} from '../terminology/index.js'
import { copiedExtensions, extensionProperties } from './entry-extensions.js'
import type { EntryProperty, ExpansionEntry } from './expansion.js'

/** How entries are written. */
export interface EntryStyle {
  readonly languages: LanguageList | undefined
  /** Absent when designations are not wanted. */
  readonly designations: ((text: ConceptText) => boolean) | undefined
  readonly properties: readonly string[]
  /** Systems of which the version is shown. */
  readonly versioned: ReadonlySet<string>
}

/** Writes a concept of a value set as an entry of its expansion. */
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
    properties: [
      ...statusProperty(status, style.properties),
      ...askedProperties(provider, concept, style.properties),
      ...extensionProperties(elements),
    ],
    extensions: copiedExtensions(elements, listed?.concept),
    contains: [],
  }
}

interface Texts {
  readonly shown: ConceptText | undefined
  readonly designations: readonly ConceptText[]
}

/** Designations are read only where they are wanted or may be shown; most expansions need displays alone. */
function textsOf({ provider, listed }: Segment, concept: number, { languages, designations }: EntryStyle): Texts {
  const entry = listed?.get(concept)
  if (languages === undefined && designations === undefined) return { shown: mainText(provider, concept, entry), designations: [] }
  const texts = conceptTexts(provider, concept, entry)
  const shown = shownText(texts, languages)
  return { shown, designations: designations === undefined ? [] : otherTexts(texts, shown, designations) }
}

/** What is said about the concept with extensions, the value set last. */
function extendedElements(provider: CodeSystemProvider, concept: number, listed: ListedCode | undefined): readonly JsonObject[] {
  const elements: JsonObject[] = []
  for (const source of provider.sources(concept)) if (source.concept['extension'] !== undefined) elements.push(source.concept)
  if (listed?.concept['extension'] !== undefined) elements.push(listed.concept)
  return elements
}

/** True for designations of one of these languages or uses; when none are named, for all that are not minor. */
export function designationFilter(asked: readonly string[]): (text: ConceptText) => boolean {
  if (asked.length === 0) return ({ minor }) => minor !== true
  return ({ language, use }) =>
    asked.some((token) => {
      const bar = token.lastIndexOf('|')
      const [system, code] = [token.slice(0, Math.max(bar, 0)), token.slice(bar + 1)]
      if (system === 'urn:ietf:bcp:47') return code === language
      return stringAt(use, 'code') === code && (bar < 0 || stringAt(use, 'system') === system)
    })
}

/** The texts that are not the display. A display that gave way to one of another language is kept as such. */
function otherTexts(
  texts: readonly ConceptText[],
  shown: ConceptText | undefined,
  accept: (text: ConceptText) => boolean,
): readonly ConceptText[] {
  return texts
    .filter((text) => text !== shown)
    .map((text) => (text.main ? { ...text, use: PREFERRED } : text))
    .filter(accept)
}

const PREFERRED: JsonObject = {
  system: 'http://terminology.hl7.org/CodeSystem/hl7TermMaintInfra',
  code: 'preferredForLanguage',
  display: 'Preferred For Language',
}

/** That a concept is active is told to those who ask only. */
function statusProperty(status: string | undefined, asked: readonly string[]): readonly EntryProperty[] {
  if (status === undefined || (status === 'active' && !asked.includes('status'))) return []
  return [{ code: 'status', uri: `${CONCEPT_PROPERTIES}#status`, value: ['valueCode', status] }]
}

function askedProperties(provider: CodeSystemProvider, concept: number, asked: readonly string[]): readonly EntryProperty[] {
  if (asked.length === 0) return []
  return asked.flatMap((code) => {
    if (code === 'status') return []
    if (code === 'definition') return definitionProperty(provider, concept)
    if (code === 'parent' || code === 'child') return relatives(provider, concept, code)
    return statedProperties(provider, concept, code)
  })
}

function definitionProperty(provider: CodeSystemProvider, concept: number): readonly EntryProperty[] {
  const [definition] = provider.sources(concept).flatMap((source) => stringAt(source.concept, 'definition') ?? [])
  if (definition === undefined) return []
  return [{ code: 'definition', uri: `${CONCEPT_PROPERTIES}#definition`, value: ['valueString', definition] }]
}

/** The concepts next to it in the hierarchy, however that is stated. */
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
