import { quoted } from '../errors/index.js'
import { stringAt } from '../json/index.js'
import type { Explain, ExplanationReason } from '../explain/index.js'
import {
  conceptTexts,
  escaped,
  isWanted,
  mainText,
  shownText,
  textOrigin,
  type CodeSystemProvider,
  type ConceptText,
  type LanguageList,
  type ListedCode,
} from '../terminology/index.js'
import type { GivenCoding } from './input.js'
import { issueOf, memberPath, type ValidationIssue } from './issue.js'

/** The texts and options that a display is compared with. */
interface DisplayQuestion {
  /** The code in the system's spelling. */
  readonly code: string
  readonly texts: readonly ConceptText[]
  readonly languages: LanguageList | undefined
  /** Language of the code system. */
  readonly language: string | undefined
  readonly lenient: boolean
}

/** Returns the issues about the display of a coding; none when it has no display or a valid one. */
export function displayIssues(coding: GivenCoding, question: DisplayQuestion): readonly ValidationIssue[] {
  const given = coding.display
  if (given === undefined || question.texts.length === 0) return []
  const { texts } = question
  const allowed = texts.filter((text) => text.outdated === undefined && isAllowed(text, question))
  if (allowed.some(({ value }) => sameText(value, given))) return []
  const outdated = texts.find((text) => text.outdated !== undefined && sameText(text.value, given))
  if (outdated !== undefined) return [outdatedIssue(coding, question, outdated)]
  return [allowed.length > 0 ? wrongIssue(coding, question, allowed) : otherLanguageIssue(coding, question)]
}

/** The language of a value set, which nobody asked for, does not make the texts in the language of the code system wrong. */
function isAllowed(text: ConceptText, { languages, language }: Pick<DisplayQuestion, 'languages' | 'language'>): boolean {
  return isInLanguages(text, languages) || (languages?.isOfValueSet === true && text.language === language)
}

/** A text without language is valid in every language. */
function isInLanguages(text: ConceptText, languages: LanguageList | undefined): boolean {
  if (languages === undefined || text.language === undefined) return true
  return (languages.tags.length === 0 && languages.allBut === undefined) || isWanted(languages, text.language)
}

function wrongIssue(coding: GivenCoding, question: DisplayQuestion, allowed: readonly ConceptText[]): ValidationIssue {
  const given = coding.display ?? ''
  const blanks = allowed.some(({ value }) => sameText(withoutBlanks(value), withoutBlanks(given)))
  const id = blanks ? 'Display_Name_WS_for__should_be_one_of__instead_of' : 'Display_Name_for__should_be_one_of__instead_of'
  return issueOf(id, { ...named(coding, question), choices: choices(allowed) }, displayAt(coding, question))
}

/** When there is no text in the requested languages, a text in the language of the code system is accepted. */
function otherLanguageIssue(coding: GivenCoding, question: DisplayQuestion): ValidationIssue {
  const { texts, language } = question
  const own = texts.filter((text) => text.outdated === undefined && (text.main || text.language === language))
  const values = { ...named(coding, question), display: shownText(texts, undefined)?.value ?? '' }
  if (own.some(({ value }) => sameText(value, coding.display ?? ''))) {
    return issueOf('NO_VALID_DISPLAY_FOUND_NONE_FOR_LANG_OK', values, { at: memberPath(coding.path, 'display') })
  }
  return issueOf('NO_VALID_DISPLAY_FOUND_NONE_FOR_LANG_ERR', values, displayAt(coding, question))
}

function outdatedIssue(coding: GivenCoding, question: DisplayQuestion, { outdated = '' }: ConceptText): ValidationIssue {
  const current = question.texts.filter((text) => text.outdated === undefined && (text.main || text.language === question.language))
  const list = [...new Set(current.map(({ value }) => value))].sort()
  const values = { ...named(coding, question), status: outdated, choices: list.map((value) => `"${escaped(value)}"`).join(',') }
  return issueOf('INACTIVE_DISPLAY_FOUND', values, { at: memberPath(coding.path, 'display') })
}

function named(coding: GivenCoding, { code, languages }: DisplayQuestion): Record<'given' | 'system' | 'code' | 'languages', string> {
  const list =
    languages === undefined
      ? ''
      : languages.text
          .split(',')
          .map((item) => item.split(';')[0]?.trim() ?? '')
          .join(', ')
  return { given: coding.display ?? '', system: coding.system ?? '', code, languages: list === '' ? '--' : escaped(list) }
}

function displayAt(coding: GivenCoding, { lenient }: DisplayQuestion): { at: string; severity?: 'warning' } {
  return { at: memberPath(coding.path, 'display'), ...(lenient && { severity: 'warning' }) }
}

function choices(allowed: readonly ConceptText[]): string {
  const list = [
    ...new Set(
      allowed.map(({ value, language, ofResource }) => {
        const stated = language === undefined || ofResource === true ? '' : ` (${escaped(language)})`
        return `'${escaped(value)}'${stated}`
      }),
    ),
  ]
  return list.length === 1 ? (list[0] ?? '') : `one of ${list.length} choices: ${list.join(' or ')}`
}

/** Compares displays, ignoring case. */
export function sameText(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}

function withoutBlanks(text: string): string {
  return text.replace(/\s+/gu, '')
}

/** A concept, perhaps with its entry in the value set. */
interface NamedConcept {
  readonly provider: CodeSystemProvider
  readonly concept: number
  readonly listed?: ListedCode | undefined
}

/** Returns the texts of a concept, with the display of the code system also where the value set has its own. */
export function textsWithOwn({ provider, concept, listed }: NamedConcept): readonly ConceptText[] {
  const texts = conceptTexts(provider, concept, listed)
  const own = stringAt(listed?.concept, 'display') === undefined ? undefined : mainText(provider, concept)
  const isThere = texts.some(({ value, language }) => value === own?.value && language === own.language)
  return own === undefined || isThere ? texts : [...texts, { ...own, main: false }]
}

/** The concept of a given display. */
interface ShownConcept extends NamedConcept {
  readonly languages: LanguageList | undefined
}

/** Records which text of the concept a given display equals, if any. */
export function explainDisplay(explain: Explain | undefined, { display, code, system }: GivenCoding, shown: ShownConcept): void {
  if (explain === undefined || display === undefined) return
  const texts = textsWithOwn(shown)
  const alike = texts.filter(({ value }) => sameText(value, display))
  const among = { languages: shown.languages, language: shown.provider.header.language }
  const right = alike.find((text) => faultOf(text, among) === undefined)
  const text = right ?? alike[0]
  const fault = text === undefined ? undefined : faultOf(text, among)
  const origin = text === undefined ? `none of the ${texts.length} texts` : textOrigin(text)
  explain.step({
    kind: 'text',
    outcome: right === undefined ? 'fails' : 'holds',
    ...(fault !== undefined && { reason: fault }),
    coding: { ...(system !== undefined && { system }), code, display },
    text: `${quoted(display)} is ${origin} of ${quoted(code)}${FAULTS.get(fault) ?? ''}.`,
  })
}

const FAULTS: ReadonlyMap<ExplanationReason | undefined, string> = new Map([
  ['outdated', ', and no longer in use'],
  ['other-language', ', and not in a requested language'],
])

function faultOf(text: ConceptText, among: Pick<DisplayQuestion, 'languages' | 'language'>): ExplanationReason | undefined {
  if (text.outdated !== undefined) return 'outdated'
  return isAllowed(text, among) ? undefined : 'other-language'
}
