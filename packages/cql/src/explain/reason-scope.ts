import type { NearMiss, ReasonStep } from 'fhir-ops/internal/explain'
import type { Evaluation, RetrieveRequest } from '../compile/compiler.js'
import type { RetrieverOptions } from '../data/retrieve.js'
import type { FhirElement } from '../values/value.js'
import type { Words } from './comparison.js'
import type { ElmDefinitions } from './elm-libraries.js'
import type { Tracer } from './trace.js'

/** Everything that is needed to find reasons. */
export interface ReasonScope extends Words {
  readonly tracer: Tracer
  readonly definitions: ElmDefinitions
  readonly evaluation: Evaluation
  readonly options: RetrieverOptions
  /** Returns the resources of a retrieve without recording them. */
  readonly retrieve: (request: RetrieveRequest) => readonly FhirElement[]
  /** Number of remaining steps; counts down. */
  readonly left: { steps: number }
}

/** Why a node has its value. */
export interface Because {
  /** The nodes that decide, the outermost first. */
  readonly links: readonly string[]
  /** Describes the innermost of them. */
  readonly detail: string
  readonly nearest: readonly NearMiss[]
  readonly steps: readonly ReasonStep[]
}
