import type { Evaluation, EvaluationMessage, RetrieveRequest } from '../compile/compiler.js'
import { momentAt } from '../compile/temporal.js'
import { failedEvaluation } from '../problem.js'
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
}

const MAX_STEPS = 10_000_000

/** What one subject's definitions are evaluated with; keeps each definition's value. */
export function createEvaluation({ subject, now, offset = 0, retrieve, onMessage, maxSteps = MAX_STEPS }: EvaluationOptions): Evaluation {
  let steps = 0
  return {
    slots: [],
    memo: [],
    subject: subject ?? null,
    now: momentAt(now, offset),
    retrieve: retrieve ?? (() => []),
    onMessage: onMessage ?? (() => undefined),
    spend: (count) => {
      steps += count
      if (steps > maxSteps) throw failedEvaluation(`The evaluation of one subject took more than ${maxSteps} steps.`)
    },
  }
}
