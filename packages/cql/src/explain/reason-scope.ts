import type { NearMiss, ReasonStep } from 'fhir-ops/internal/explain'
import type { Evaluation, RetrieveRequest } from '../compile/compiler.js'
import type { RetrieverOptions } from '../data/retrieve.js'
import type { FhirElement } from '../values/value.js'
import type { Words } from './comparison.js'
import type { ElmDefinitions } from './elm-libraries.js'
import type { Tracer } from './trace.js'

/** What reasons are found with. */
export interface ReasonScope extends Words {
  readonly tracer: Tracer
  readonly definitions: ElmDefinitions
  readonly evaluation: Evaluation
  readonly options: RetrieverOptions
  /** What a retrieve finds, without writing it down. */
  readonly retrieve: (request: RetrieveRequest) => readonly FhirElement[]
  /** How many steps may still be made; counts down. */
  readonly left: { steps: number }
}

/** Why a node has its value. */
export interface Because {
  /** The nodes that decide, from the outer to the inner. */
  readonly links: readonly string[]
  /** What the innermost of them is about, in words. */
  readonly detail: string
  readonly nearest: readonly NearMiss[]
  readonly steps: readonly ReasonStep[]
}
