import type { OperationError } from 'fhir-ops/errors'
import type { Evaluation, EvaluationMessage, RetrieveRequest } from '../compile/compiler.js'
import { momentAt } from '../compile/temporal.js'
import { failedEvaluation } from '../problem.js'
import type { Temporal } from '../values/temporal.js'
import type { FhirElement } from '../values/value.js'

/** What definitions are evaluated over. */
export interface EvaluationOptions {
  /** The subject of the context; absent for expressions that need none. */
  readonly subject?: FhirElement | undefined
  /** When the evaluation began: `Now()` and `Today()`. */
  readonly now: Date
  /** Offset in minutes of times that have none. Default 0. */
  readonly offset?: number
  /** The resources of a retrieve; none when absent. */
  readonly retrieve?: (request: RetrieveRequest) => readonly FhirElement[]
  /** Receives what `Message` says. */
  readonly onMessage?: (message: EvaluationMessage) => void
  /** How many steps one subject may take: items looked at, resources read. Default 10,000,000. */
  readonly maxSteps?: number
  /** Called when a definition asks for the time. */
  readonly onNow?: () => void
}

const MAX_STEPS = 10_000_000

/** What one subject's definitions are evaluated with; keeps each definition's value. */
export function createEvaluation({
  subject,
  now,
  offset = 0,
  retrieve,
  onMessage,
  onNow,
  maxSteps = MAX_STEPS,
}: EvaluationOptions): Evaluation {
  let steps = 0
  let ended: OperationError | undefined
  let moment: Temporal | undefined
  return {
    slots: [],
    memo: [],
    subject: subject ?? null,
    get now() {
      onNow?.()
      return (moment ??= momentAt(now, offset))
    },
    offset,
    retrieve: retrieve ?? (() => []),
    onMessage: onMessage ?? (() => undefined),
    spend: (count) => {
      steps += count
      if (steps > maxSteps) throw (ended ??= failedEvaluation(`The evaluation of one subject took more than ${maxSteps} steps.`))
    },
  }
}
