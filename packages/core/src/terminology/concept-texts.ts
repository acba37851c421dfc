import { objectAt, objectsAt, stringAt, type JsonObject } from '../json/index.js'
import { standardsStatusOf } from './code-system/concept-index.js'
import type { CodeSystemProvider, ConceptSource, ConceptText, SystemHeader } from '../code-system/index.js'
import { isLessWanted, languageFit, type LanguageList } from './languages.js'
import type { ListedCode } from './value-set/value-set.js'

const OUTDATED: ReadonlySet<string> = new Set(['deprecated', 'withdrawn'])

/** Returns all texts of a concept: the display first, then designations of code system, supplements and value set in that order. */
export function conceptTexts(provider: CodeSystemProvider, concept: number, listed?: ListedCode): readonly ConceptText[] {
  const sources = provider.sources(concept)
  const main = mainTextOf(provider, sources, listed)
  const texts: ConceptText[] = main === undefined ? [] : [main]
  if (listed?.language !== undefined && main !== undefined) addReplaced(texts, main, mainTextOf(provider, sources))
  for (const text of provider.designations?.(concept) ?? []) texts.push(text)
  for (const source of sources) if (source.supplement !== undefined) addDisplay(texts, source, main)
  for (const source of sources) addDesignations(texts, source)
  if (listed !== undefined) addDesignations(texts, listed, { listed: true })
  return texts
}

/**
 * Returns the display of the value set, otherwise of the code system, otherwise of a supplement. The display of a value set that does not state its
 * language has that of the code system.
 */
export function mainText(provider: CodeSystemProvider, concept: number, listed?: ListedCode): ConceptText | undefined {
  return mainTextOf(provider, stringAt(listed?.concept, 'display') === undefined ? provider.sources(concept) : NO_SOURCES, listed)
}

const NO_SOURCES: readonly ConceptSource[] = []

function mainTextOf({ header }: CodeSystemProvider, sources: readonly ConceptSource[], listed?: ListedCode): ConceptText | undefined {
  const own = stringAt(listed?.concept, 'display')
  if (own !== undefined) return displayText(own, listed?.language === undefined ? header : { language: listed.language })
  for (const { concept: source, supplement, language } of sources) {
    const display = stringAt(source, 'display')
    if (display !== undefined) return displayText(display, supplement === undefined || language === undefined ? header : { language })
  }
  return undefined
}

function displayText(value: string, { language, dialect }: Pick<SystemHeader, 'language' | 'dialect'>): ConceptText {
  return {
    value,
    main: true,
    extension: NONE,
    ...(language !== undefined && { language }),
    ...(dialect !== undefined && { dialects: [dialect] }),
  }
}

/** Adds the display of the code system where the value set has one of its own in another language. */
function addReplaced(texts: ConceptText[], main: ConceptText, own: ConceptText | undefined): void {
  if (own?.language !== undefined && own.language !== main.language) texts.push({ ...own, main: false, use: PREFERRED_FOR_LANGUAGE })
}

/** Adds the display that a supplement states in its own language, beside that of the code system. */
function addDisplay(texts: ConceptText[], { concept, supplement, language }: ConceptSource, main: ConceptText | undefined): void {
  const value = stringAt(concept, 'display')
  if (supplement === undefined || language === undefined || value === undefined || language === main?.language) return
  texts.push({ value, language, use: PREFERRED_FOR_LANGUAGE, main: false, extension: NONE, supplement })
}

const NONE: readonly JsonObject[] = []

/** Returns a member of a concept from the code system and its supplements. */
export function statedTexts(provider: CodeSystemProvider, concept: number, member: 'display' | 'definition'): readonly string[] {
  return provider.sources(concept).flatMap((source) => stringAt(source.concept, member) ?? [])
}

/** The use of a designation that is the display in its language. */
export const PREFERRED_FOR_LANGUAGE: Readonly<Record<'system' | 'code' | 'display', string>> = {
  system: 'http://terminology.hl7.org/CodeSystem/hl7TermMaintInfra',
  code: 'preferredForLanguage',
  display: 'Preferred For Language',
}

/**
 * Returns the text to show. Without requested languages, this is the display; otherwise the best text in the first language that has one. If none has,
 * it is the display, except that there is none if only the requested languages are accepted, and another text is preferred if the display is in a
 * language that the request ranks below all others. A display without language is valid in every language.
 */
export function shownText(texts: readonly ConceptText[], languages: LanguageList | undefined): ConceptText | undefined {
  const main = texts.find((text) => text.main)
  if (languages === undefined) return main
  const found = firstIn(texts, languages.tags)
  if (found !== undefined || main?.language === undefined) return found ?? main
  if (languages.only) return undefined
  return isLessWanted(languages, main.language) ? (inAnother(texts, languages) ?? firstIn(texts, languages.less)) : main
}

function firstIn(texts: readonly ConceptText[], tags: readonly string[]): ConceptText | undefined {
  for (const asked of tags) {
    const found = bestIn(texts, asked)
    if (found !== undefined) return found
  }
  return undefined
}

/** Returns the best current text in a language that the request does not rank below all others. */
function inAnother(texts: readonly ConceptText[], languages: LanguageList): ConceptText | undefined {
  const others = texts.filter(
    ({ language, outdated }) => outdated === undefined && language !== undefined && !isLessWanted(languages, language),
  )
  return others.toSorted((a, b) => useRank(a.use) - useRank(b.use))[0]
}

/**
 * Returns the best current text in a language: the closest form of the language, that of the value set before that of the code system, in the order of
 * the texts.
 */
function bestIn(texts: readonly ConceptText[], asked: string): ConceptText | undefined {
  let best: { readonly text: ConceptText; readonly rank: number } | undefined
  for (const text of texts) {
    const rank = text.outdated === undefined ? rankOf(text, asked) : undefined
    if (rank === undefined) continue
    if (best === undefined || rank < best.rank) best = { text, rank }
  }
  return best?.text
}

function rankOf(text: ConceptText, asked: string): number | undefined {
  const { language, dialects = [], main } = text
  if (dialects.some((dialect) => dialect.toLowerCase() === asked)) return main ? 0 : 1
  const fit = language === undefined ? undefined : languageFit(asked, language)
  if (fit === undefined) return undefined
  return fit * 8 + (main ? 0 : dialects.length > 0 ? 2 : designationRank(text))
}

/** A designation of the value set is for its context; without a use it is for display. */
function designationRank({ use, listed }: ConceptText): number {
  if (listed === undefined) return 2 * useRank(use)
  return use === undefined ? 1 : 2 * useRank(use) - 1
}

function useRank(use: JsonObject | undefined): number {
  if (use === undefined) return 2
  const code = stringAt(use, 'code')
  return code === PREFERRED_FOR_LANGUAGE.code || code === 'display' ? 1 : 3
}

type Designated = Pick<ConceptSource, 'concept' | 'supplement'> & { readonly language?: string | undefined }

function addDesignations(texts: ConceptText[], source: Designated, more?: Pick<ConceptText, 'listed'>): void {
  if (source.concept['designation'] === undefined) return
  for (const designation of objectsAt(source.concept, 'designation')) {
    const value = stringAt(designation, 'value')
    if (value === undefined) continue
    const text = readDesignation(designation, value, source)
    texts.push(more === undefined ? text : { ...text, ...more })
  }
}

/** A designation without language has that of its resource. @see https://hl7.org/fhir/R4/codesystem-definitions.html#CodeSystem.concept.designation.language */
function readDesignation(designation: JsonObject, value: string, { supplement, language: ofResource }: Designated): ConceptText {
  const stated = stringAt(designation, 'language')
  const language = stated ?? ofResource
  const use = objectAt(designation, 'use')
  const status = standardsStatusOf(designation)
  return {
    value,
    main: false,
    extension: objectsAt(designation, 'extension'),
    ...(language !== undefined && { language }),
    ...(stated === undefined && language !== undefined && { ofResource: true }),
    ...(use !== undefined && { use }),
    ...(status !== undefined && OUTDATED.has(status) && { outdated: status }),
    ...(supplement !== undefined && { supplement }),
  }
}
