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
