/**
 * Result of a criterion for one subject. `not-applicable`: an enclosing population does not contain the subject. `value`: a definition of CQL has a value
 * that is neither true nor false.
 */
export type CriterionResult = 'true' | 'false' | 'unknown' | 'value' | 'not-applicable' | 'failed'

/** Why a resource does not satisfy a criterion: its date is outside, its code, status or a value does not match, or something is absent. */
export type MissedBy = 'date' | 'code' | 'status' | 'value' | 'absent' | 'condition'

/** A resource or value that almost satisfies a criterion, and what it lacks. */
export interface NearMiss {
  /** Reference such as `Observation/o1`; absent for a value that is not a resource. */
  readonly resource?: string
  readonly missedBy: MissedBy
  /** Source text of the part of the criterion that it does not satisfy. */
  readonly clause: string
  /** Place in the CQL: `4:11-4:17`. */
  readonly locator?: string
  /** Distance from satisfying the criterion, where it can be measured. */
  readonly distance?: { readonly value: number; readonly unit: string }
  /** The near miss as a sentence; the wording may change. */
  readonly text: string
}

/** One step from a criterion down to the clause that decides it. */
export interface ReasonStep {
  readonly kind: 'population' | 'definition' | 'clause' | 'retrieve' | 'query'
  /** `true`, `false`, `null`, or a summary of another value. */
  readonly result: string
  /** Name and version of its library. */
  readonly library?: string
  readonly locator?: string
  readonly text: string
}

/** The resources that a clause read. */
export interface ClauseResources {
  /** Source text of the clause. */
  readonly clause: string
  readonly library?: string
  readonly locator?: string
  /** References, at most 20. */
  readonly resources: readonly string[]
  /** Total number of resources read. */
  readonly total: number
}

/** Explains the result of a criterion for one subject: the criterion of a population of a Measure, or a definition of CQL. */
export interface ExplainedCriterion {
  /** Kind of the population (`numerator`), or name of the definition. */
  readonly name: string
  /** `url|version` of the Measure or Library. */
  readonly definition?: string
  /** FHIRPath in the Measure: `Measure.group[0].population[3]`. */
  readonly path?: string
  /** Source text of the criterion. */
  readonly expression: string
  readonly result: CriterionResult
  /** Number of items that satisfy it, where its value is a list. */
  readonly count?: number
  /** A sentence that names the deciding clause; the wording may change. */
  readonly reason: string
  /** Near misses, the closest first; at most five. */
  readonly nearest: readonly NearMiss[]
  readonly steps: readonly ReasonStep[]
  readonly evaluated: readonly ClauseResources[]
}

/**
 * Numbers of subjects by result of a clause. `true`: it was true (or had a value) at least once; `false`: otherwise, it was false (or an empty list) at
 * least once; `null`: otherwise, it was null.
 */
export interface ClauseCounts {
  readonly true: number
  readonly false: number
  readonly null: number
  readonly notEvaluated: number
}

/** A clause of a definition: an expression with a value. */
export interface CoveredClause {
  /** The `localId` of its ELM. */
  readonly id: string
  readonly locator?: string
  readonly counts: ClauseCounts
}

/** A part of the text of a definition. */
export interface SourcePart {
  readonly text: string
  /** The innermost clause that it belongs to. */
  readonly clause?: string
}

/** A definition or function with the results of its clauses. */
export interface CoveredDefinition {
  readonly name: string
  readonly locator?: string
  /** Counts of its whole expression. */
  readonly counts: ClauseCounts
  readonly clauses: readonly CoveredClause[]
  /** Its source text, in order; for ELM without annotations, a summary. */
  readonly source: readonly SourcePart[]
}

/** A library with the results of its clauses. */
export interface CoveredLibrary {
  /** `Name|version`. */
  readonly library: string
  /** All definitions of the Measure's own library, and the used ones of other libraries. */
  readonly definitions: readonly CoveredDefinition[]
}

/** Results of the clauses of libraries for the subjects of an evaluation. */
export interface Coverage {
  readonly subjects: number
  readonly libraries: readonly CoveredLibrary[]
  /** Number of clauses omitted from `libraries`, which has at most 20,000. */
  readonly omitted: number
}

/** The part of an explanation that concerns a Measure or CQL, for one subject. */
export interface ExplainedCriteria {
  /** Explanations of the populations or definitions, in their order. */
  readonly criteria: readonly ExplainedCriterion[]
  /** Results of the clauses of the libraries for that subject, with source text. */
  readonly source?: Coverage
}

/** Joins the coverages of several Measures, such as the components of a composite; `undefined` for none. */
export function mergeCoverage(all: readonly Coverage[]): Coverage | undefined {
  if (all.length === 0) return undefined
  return {
    subjects: Math.max(...all.map(({ subjects }) => subjects)),
    libraries: all.flatMap(({ libraries }) => libraries),
    omitted: all.reduce((sum, { omitted }) => sum + omitted, 0),
  }
}

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
