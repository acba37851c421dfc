import { quoted } from '../../errors/index.js'
import type { ExplanationReason, ExplanationStep } from '../../explain/index.js'
import { stringAt } from '../../json/index.js'
import type { ConceptText } from '../../code-system/index.js'
import type { LanguageList } from '../languages.js'
import type { AskedLanguages } from '../request-input.js'

/** Which languages are wanted, and who asked for them. */
export function languageStep(languages: LanguageList, { displayLanguage, acceptLanguage }: AskedLanguages): ExplanationStep {
  const ofHeader = acceptLanguage === languages.text ? 'accept-language' : 'value-set'
  const reason: ExplanationReason = displayLanguage === undefined ? ofHeader : 'displayLanguage'
  return { kind: 'language', outcome: 'chosen', reason, text: `Texts are wanted in ${quoted(languages.text)}, by ${reason}.` }
}

/** Which text of a concept is shown. */
export function shownTextStep(shown: ConceptText, languages: LanguageList | undefined): ExplanationStep {
  const why = languages === undefined ? 'no language was asked for' : `${quoted(languages.text)} was asked for`
  return { kind: 'text', outcome: 'chosen', text: `${quoted(shown.value)} is shown, ${textOrigin(shown)}: ${why}.` }
}

/** Where a text comes from: `the designation in 'de' with the use 'synonym' of supplement 'x'`. */
export function textOrigin({ main, language, use, supplement }: ConceptText): string {
  const code = stringAt(use, 'code')
  const parts = [
    main ? 'the display' : 'a designation',
    ...(language === undefined ? [] : [`in ${quoted(language)}`]),
    ...(code === undefined ? [] : [`for the use ${quoted(code)}`]),
    ...(supplement === undefined ? [] : [`of the supplement ${quoted(supplement)}`]),
  ]
  return parts.join(' ')
}
