/** What a step is about: a definition that was chosen, a part of it that was tried, or a text. */
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

/** `chosen` for what was picked out of several; for what was tried, how it came out. */
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

/** One thing that decided, in the order of the decisions: what is imported comes before what imports it. */
export interface ExplanationStep {
  readonly kind: ExplanationKind
  readonly outcome: ExplanationOutcome
  readonly reason?: ExplanationReason
  /** Canonical of the definition that it stands in, with version where it has one. */
  readonly definition?: string
  /** FHIRPath in the definition: `ValueSet.compose.include[0].filter[1]`. */
  readonly path?: string
  /** The code that was asked about, or that was found. */
  readonly coding?: ExplainedCoding
  /** How many codes there are, where a set was worked out. */
  readonly count?: number
  /** The step in a sentence, for people; its words may change. */
  readonly text: string
}

/** A code that exists and is written much like one that does not. */
export interface NearestCode {
  readonly coding: ExplainedCoding
  /** Letters to add, to leave out, to change or to swap with their neighbour. 0 where only case or accents differ. */
  readonly distance: number
  /** What is like the code that was asked for: a code, or a text of the concept. */
  readonly by: 'code' | 'text'
}

/** Why an operation answers what it answers. */
export interface Explanation {
  readonly steps: readonly ExplanationStep[]
  /** How many further steps were left out. */
  readonly omitted: number
  /** For codes that do not exist; the most alike first. */
  readonly nearest: readonly NearestCode[]
}

/** Where engines write down what decides, when somebody asks for it. */
export interface Explain {
  step(step: ExplanationStep): void
  /** True when it is worth to look for codes that are like one that does not exist; only the first few of a call are, as it takes time. */
  wantsNearest(): boolean
  nearest(codes: readonly NearestCode[]): void
}
