/**
 * What a criterion is for one subject. It does not apply where a population that it lies within does not have the subject; definitions of CQL may have a
 * value that is neither true nor false.
 */
export type CriterionResult = 'true' | 'false' | 'unknown' | 'value' | 'not-applicable' | 'failed'

/** What kept a resource from satisfying a criterion: that its date is outside, its code another, its status or a value not the one that is demanded, or that something is absent. */
export type MissedBy = 'date' | 'code' | 'status' | 'value' | 'absent' | 'condition'

/** What came closest to satisfying a criterion, and what it lacks. */
export interface NearMiss {
  /** `Observation/o1`; absent for what is not a resource. */
  readonly resource?: string
  readonly missedBy: MissedBy
  /** The part of the criterion that it does not satisfy, as it is written. */
  readonly clause: string
  /** Place in the CQL: `4:11-4:17`. */
  readonly locator?: string
  /** How far it is outside, where that can be measured. */
  readonly distance?: { readonly value: number; readonly unit: string }
  /** The same as a sentence; the wording may change. */
  readonly text: string
}

/** One step from a criterion down to what decides it. */
export interface ReasonStep {
  readonly kind: 'population' | 'definition' | 'clause' | 'retrieve' | 'query'
  /** `true`, `false`, `null`, or another value in short. */
  readonly result: string
  /** Name and version of the library that it is in. */
  readonly library?: string
  readonly locator?: string
  readonly text: string
}

/** What a clause read. */
export interface ClauseResources {
  /** The clause as it is written. */
  readonly clause: string
  readonly library?: string
  readonly locator?: string
  /** References, at most 20. */
  readonly resources: readonly string[]
  /** How many there are. */
  readonly total: number
}

/** Why a criterion has its result for one subject: that of a population of a Measure, or a definition of CQL. */
export interface ExplainedCriterion {
  /** Kind of the population (`numerator`), or name of the definition. */
  readonly name: string
  /** `url|version` of the Measure or Library. */
  readonly definition?: string
  /** FHIRPath in the Measure: `Measure.group[0].population[3]`. */
  readonly path?: string
  /** The criterion as it is written. */
  readonly expression: string
  readonly result: CriterionResult
  /** How many items satisfy it, where it gives a list. */
  readonly count?: number
  /** One sentence that names what decides; the wording may change. */
  readonly reason: string
  /** The closest first; at most five. */
  readonly nearest: readonly NearMiss[]
  readonly steps: readonly ReasonStep[]
  readonly evaluated: readonly ClauseResources[]
}

/** How often a clause was what, over all subjects: true counts those for whom it was true (or gave something) at least once, false those for whom it was else false (or an empty list), null those for whom it was else null. */
export interface ClauseCounts {
  readonly true: number
  readonly false: number
  readonly null: number
  readonly notEvaluated: number
}

/** A clause of a definition: an expression that has a value. */
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

/** A definition or function with what its clauses were. */
export interface CoveredDefinition {
  readonly name: string
  readonly locator?: string
  /** Counts of its whole expression. */
  readonly counts: ClauseCounts
  readonly clauses: readonly CoveredClause[]
  /** Its text, in order; of ELM without annotations what it says in short. */
  readonly source: readonly SourcePart[]
}

/** A library with what its clauses were. */
export interface CoveredLibrary {
  /** `Name|version`. */
  readonly library: string
  /** Definitions of the Measure's own library, and of others those that are used. */
  readonly definitions: readonly CoveredDefinition[]
}

/** What the clauses of libraries were for the subjects of an evaluation. */
export interface Coverage {
  readonly subjects: number
  readonly libraries: readonly CoveredLibrary[]
  /** How many clauses were left out of `libraries`, which has at most 20,000. */
  readonly omitted: number
}

/** The part of an explanation that is about a Measure or CQL, for one subject. */
export interface ExplainedCriteria {
  /** Why each population or definition has its result, in their order. */
  readonly criteria: readonly ExplainedCriterion[]
  /** What each clause of the libraries was for that subject, with their text. */
  readonly source?: Coverage
}

/** The clauses of the libraries of several Measures, as components of a composite have them; `undefined` for none. */
export function togetherCovered(all: readonly Coverage[]): Coverage | undefined {
  if (all.length === 0) return undefined
  return {
    subjects: Math.max(...all.map(({ subjects }) => subjects)),
    libraries: all.flatMap(({ libraries }) => libraries),
    omitted: all.reduce((sum, { omitted }) => sum + omitted, 0),
  }
}
