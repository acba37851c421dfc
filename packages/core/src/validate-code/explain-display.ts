import { quoted } from '../errors/index.js'
import type { Explain, ExplanationReason } from '../explain/index.js'
import {
  conceptTexts,
  textOrigin,
  type CodeSystemProvider,
  type ConceptText,
  type LanguageList,
  type ListedCode,
} from '../terminology/index.js'
import { isInLanguages, sameText } from './check-display.js'
import type { GivenCoding } from './input.js'

/** The concept of which a display is given. */
export interface ShownConcept {
  readonly provider: CodeSystemProvider
  readonly concept: number
  readonly listed?: ListedCode | undefined
  readonly languages: LanguageList | undefined
}

/** Writes down which text of the concept a given display is, if any. */
export function explainDisplay(explain: Explain | undefined, { display, code, system }: GivenCoding, shown: ShownConcept): void {
  if (explain === undefined || display === undefined) return
  const texts = conceptTexts(shown.provider, shown.concept, shown.listed)
  const alike = texts.filter(({ value }) => sameText(value, display))
  const right = alike.find((text) => faultOf(text, shown.languages) === undefined)
  const text = right ?? alike[0]
  const fault = text === undefined ? undefined : faultOf(text, shown.languages)
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
  ['other-language', ', and not in a language that was asked for'],
])

function faultOf(text: ConceptText, languages: LanguageList | undefined): ExplanationReason | undefined {
  if (text.outdated !== undefined) return 'outdated'
  return isInLanguages(text, languages) ? undefined : 'other-language'
}
