import type { OperationError } from 'fhir-ops/errors'
import type { Evaluation, EvaluationMessage, Given, RetrieveRequest } from '../compile/compiler.js'
import { momentAt } from '../compile/temporal.js'
import { failedEvaluation } from '../problem.js'
import type { Temporal } from '../values/temporal.js'
import type { FhirElement } from '../values/value.js'

/** Options of `createEvaluation`. */
export interface EvaluationOptions {
  /** The subject of the context; absent for expressions that need none. */
  readonly subject?: FhirElement | undefined
  /** Time when the evaluation began: `Now()` and `Today()`. */
  readonly now: Date
  /** Offset in minutes for times without one. Default 0. */
  readonly offset?: number
  /** Returns the resources of a retrieve. Default: none. */
  readonly retrieve?: (request: RetrieveRequest) => readonly FhirElement[]
  /** Receives the messages of the operator `Message`. */
  readonly onMessage?: (message: EvaluationMessage) => void
  /** Maximum number of steps for one subject: items processed, resources read. Default 10,000,000. */
  readonly maxSteps?: number
  /** Called when a definition reads the time. */
  readonly onNow?: () => void
  /** What it gives to libraries that were compiled for any evaluation. */
  readonly given?: Given | undefined
}

const MAX_STEPS = 10_000_000

/** Creates the evaluation of one subject, which keeps the value of each definition. */
export function createEvaluation({ subject, retrieve, now, ...options }: EvaluationOptions): Evaluation {
  return createEvaluations({ ...options, now: () => now })({ subject, retrieve })
}

/** Options that are the same for all subjects that are evaluated one after the other. */
interface EvaluationsOptions extends Omit<EvaluationOptions, 'now' | 'retrieve' | 'subject'> {
  /** Returns the time when the evaluation of a subject began; called when a definition reads the time. */
  readonly now: () => Date
}

/** The parts of an evaluation that belong to one subject. */
interface Own extends Pick<Evaluation, 'keptValues' | 'sift'> {
  readonly subject: EvaluationOptions['subject']
  readonly retrieve: EvaluationOptions['retrieve'] | undefined
}

/**
 * Returns a function that starts the evaluation of the next subject. It reuses one object for all subjects, so the object must not be kept: creating one for
 * each subject costs as much as evaluating a small Measure.
 */
export function createEvaluations({
  now,
  offset = 0,
  onMessage = () => undefined,
  onNow,
  maxSteps = MAX_STEPS,
  given,
}: EvaluationsOptions): (own: Own) => Evaluation {
  let steps = 0
  let ended: OperationError | undefined
  let moment: Temporal | undefined
  const evaluation: Writable<Evaluation> = {
    slots: [],
    memo: [],
    subject: null,
    get now() {
      onNow?.()
      return (moment ??= momentAt(now(), offset))
    },
    offset,
    retrieve: nothing,
    sift: undefined,
    keptValues: undefined,
    given,
    onMessage,
    spend: (count) => {
      steps += count
      if (steps > maxSteps) throw (ended ??= failedEvaluation(`The evaluation of one subject took more than ${maxSteps} steps.`))
    },
  }
  return ({ subject, retrieve, sift, keptValues }) => {
    steps = 0
    ended = undefined
    moment = undefined
    evaluation.slots.fill(null)
    evaluation.memo.fill(undefined)
    evaluation.subject = subject ?? null
    evaluation.retrieve = retrieve ?? nothing
    evaluation.sift = sift
    evaluation.keptValues = keptValues
    return evaluation
  }
}

type Writable<T> = { -readonly [Member in keyof T]: T[Member] }

function nothing(): readonly FhirElement[] {
  return []
}
