import { quoted } from '../errors/index.js'
import type { Explain } from '../explain/index.js'
import { codesText, languageStep, type LanguageList, type Segment } from '../terminology/index.js'
import type { ExpandInput } from './expand-input.js'

/** What a request keeps of the codes of a value set. */
export interface SelectionMade {
  readonly input: ExpandInput
  readonly languages: LanguageList | undefined
  /** Codes that are left, and the filter by which they were found. */
  readonly segments: readonly Segment[]
  readonly total: number
}

const MOST_CORRECTED = 5

/** Writes down what the request's own wishes did to the codes of the value set. */
export function explainSelection(explain: Explain, { input, languages, segments, total }: SelectionMade): void {
  if (languages !== undefined) explain.step(languageStep(languages, input))
  if (input.activeOnly === true) {
    explain.step({ kind: 'status', outcome: 'chosen', reason: 'inactive', text: 'Inactive codes are not wanted, by activeOnly.' })
  }
  if (input.excludeNotForUI === true) {
    explain.step({ kind: 'status', outcome: 'chosen', reason: 'abstract', text: 'Abstract codes are not wanted, by excludeNotForUI.' })
  }
  if (input.filter === undefined || input.filter.trim() === '') return
  const corrected = new Set(segments.flatMap(({ filter }) => (filter === undefined || filter === input.filter ? [] : [quoted(filter)])))
  const taken = corrected.size === 0 ? '' : `, which was taken for ${[...corrected].slice(0, MOST_CORRECTED).join(' or ')}`
  const text = `${codesText(total)} with words that begin like those of ${quoted(input.filter)}${taken}.`
  explain.step({ kind: 'text-filter', outcome: total > 0 ? 'holds' : 'fails', count: total, text })
}
