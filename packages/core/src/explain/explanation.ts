import { mergeCoverage, type ExplainedCriteria, type CriterionResult, type ExplainedCriterion } from './criteria.js'

/** The subject of a step: a chosen definition, a tested part of it, or a text. */
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

/** `chosen` for a selection among several; for a test, its outcome. */
export type ExplanationOutcome = 'chosen' | 'holds' | 'fails' | 'unknown'

/** The reason for a choice, or for a test that does not hold. */
export type ExplanationReason =
  // Choices: where the definition, version or language was named
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
  // Tests that do not hold
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

/** A decision. Steps are in the order of the decisions: an import precedes the value set that imports it. */
export interface ExplanationStep {
  readonly kind: ExplanationKind
  readonly outcome: ExplanationOutcome
  readonly reason?: ExplanationReason
  /** Canonical of the definition concerned, with version if it has one. */
  readonly definition?: string
  /** FHIRPath in the definition: `ValueSet.compose.include[0].filter[1]`. */
  readonly path?: string
  /** The requested code, or a code that was found. */
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
  /** Whether the code or a text of the concept is similar to the requested code. */
  readonly by: 'code' | 'text'
}

/** How an operation reached its answer. */
export interface Explanation extends Partial<ExplainedCriteria> {
  readonly steps: readonly ExplanationStep[]
  /** Number of omitted steps. */
  readonly omitted: number
  /** Similar codes for codes that do not exist; the most similar first. */
  readonly nearest: readonly NearestCode[]
}

/** Records the steps of an explanation, when the caller asks for one. */
export interface Explain {
  step(step: ExplanationStep): void
  /** True if similar codes should be searched for an unknown code; only for the first few of a call, because the search takes time. */
  wantsNearest(): boolean
  nearest(codes: readonly NearestCode[]): void
  /** Combines explanations of criteria with those recorded before. Called by `explainCriteria`. */
  criteria(together: (before: ExplainedCriteria | undefined) => ExplainedCriteria): void
}

/** Maximum number of steps; a value set may have any number of parts. */
const MAX_STEPS = 1_000

/** Maximum number of searches for similar codes: each takes half a second in a code system of 350,000 codes. */
const MAX_SEARCHES = 3

/** Collects an explanation. */
export interface Recorder {
  readonly explain: Explain
  /** Returns the explanation recorded so far. */
  readonly explanation: () => Explanation
}

/** Creates the recorder of one call. */
export function createRecorder(): Recorder {
  const steps: ExplanationStep[] = []
  const nearest: NearestCode[] = []
  let explained: ExplainedCriteria | undefined
  let omitted = 0
  let searches = 0
  return {
    explain: {
      step: (step) => {
        if (steps.length < MAX_STEPS) steps.push(step)
        else omitted++
      },
      wantsNearest: () => ++searches <= MAX_SEARCHES,
      nearest: (codes) => void nearest.push(...codes),
      criteria: (together) => (explained = together(explained)),
    },
    explanation: () => ({ steps: [...steps], omitted, nearest: [...nearest], ...explained }),
  }
}

/** Records the explanations of criteria, each also as a step, and the results of the clauses of their libraries. */
export function explainCriteria(explain: Explain, { criteria, source }: ExplainedCriteria): void {
  for (const criterion of criteria) explain.step(stepOf(criterion))
  explain.criteria((before) => {
    const covered = mergeCoverage([before?.source, source].filter((one) => one !== undefined))
    return { criteria: [...(before?.criteria ?? []), ...criteria], ...(covered !== undefined && { source: covered }) }
  })
}

const OUTCOMES: Readonly<Record<CriterionResult, ExplanationOutcome>> = {
  true: 'holds',
  false: 'fails',
  unknown: 'unknown',
  value: 'holds',
  'not-applicable': 'fails',
  failed: 'unknown',
}

function stepOf({ definition, path, result, count, reason }: ExplainedCriterion): ExplanationStep {
  return {
    kind: 'criterion',
    outcome: OUTCOMES[result],
    ...(definition !== undefined && { definition }),
    ...(path !== undefined && { path }),
    ...(count !== undefined && { count }),
    text: reason,
  }
}
