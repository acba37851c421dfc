import type { ExplainedCriteria } from './criteria.js'

/** The subject of a step: a definition that was chosen, a part of it that was tested, or a text. */
export type ExplanationKind =
  | 'value-set'
  | 'code-system'
  | 'supplement'
  | 'concept-map'
  | 'include'
  | 'exclude'
  | 'concept'
  | 'filter'
  | 'status'
  | 'code'
  | 'hierarchy'
  | 'language'
  | 'text'
  | 'text-filter'
  | 'group'
  | 'element'
  | 'unmapped'
  | 'profile'
  | 'measure'
  | 'population'
  | 'stratifier'
  | 'score'
  | 'criterion'
  | 'bot'
  | 'schema'
  | 'content-type'

/** `chosen` for what was selected from several; for what was tested, the outcome. */
export type ExplanationOutcome = 'chosen' | 'holds' | 'fails' | 'unknown'

/** What decided a choice, or why something does not hold. */
export type ExplanationReason =
  // Choices: who named the definition, the version or the language
  | 'accept-language'
  | 'check-system-version'
  | 'coding'
  | 'default-valueset-version'
  | 'displayLanguage'
  | 'force-system-version'
  | 'include'
  | 'newest'
  | 'request'
  | 'system-version'
  | 'value-set'
  // What does not hold
  | 'abstract'
  | 'depends-on'
  | 'excluded'
  | 'filter'
  | 'import'
  | 'inactive'
  | 'not-listed'
  | 'not-mapped'
  | 'other-language'
  | 'other-system'
  | 'other-target'
  | 'other-version'
  | 'outdated'
  | 'unknown-code'
  | 'unknown-import'
  | 'unknown-system'

/** A code in an explanation. */
export interface ExplainedCoding {
  readonly system?: string
  readonly version?: string
  readonly code: string
  readonly display?: string
}

/** One decision, in the order in which they were made: an import precedes what imports it. */
export interface ExplanationStep {
  readonly kind: ExplanationKind
  readonly outcome: ExplanationOutcome
  readonly reason?: ExplanationReason
  /** Canonical of the definition that it is part of, with version where it has one. */
  readonly definition?: string
  /** FHIRPath in the definition: `ValueSet.compose.include[0].filter[1]`. */
  readonly path?: string
  /** The requested code, or one that was found. */
  readonly coding?: ExplainedCoding
  /** Number of codes, where a set was computed. */
  readonly count?: number
  /** The step as a sentence for people; the wording may change. */
  readonly text: string
}

/** An existing code that is similar to one that does not exist. */
export interface NearestCode {
  readonly coding: ExplainedCoding
  /** Number of letters to add, remove, change or swap with their neighbour. 0 where only case or accents differ. */
  readonly distance: number
  /** What is similar to the requested code: a code, or a text of the concept. */
  readonly by: 'code' | 'text'
}

/** Why an operation gave its answer. */
export interface Explanation extends Partial<ExplainedCriteria> {
  readonly steps: readonly ExplanationStep[]
  /** How many further steps were left out. */
  readonly omitted: number
  /** For codes that do not exist; the most similar first. */
  readonly nearest: readonly NearestCode[]
}

/** Where engines record what decides, when the caller asks for it. */
export interface Explain {
  step(step: ExplanationStep): void
  /** True when codes that are similar to an unknown one should be searched for; only for the first few of a call, as it takes time. */
  wantsNearest(): boolean
  nearest(codes: readonly NearestCode[]): void
  /** Why populations or definitions have their results: puts them together with those of before. `explainCriteria` does it. */
  criteria(together: (before: ExplainedCriteria | undefined) => ExplainedCriteria): void
}
