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

/** Makes the evaluation of one subject, which keeps the value of each definition. */
export function createEvaluation({ subject, retrieve, now, ...options }: EvaluationOptions): Evaluation {
  return createEvaluations({ ...options, now: () => now })({ subject, retrieve })
}

/** What is the same for all subjects that are evaluated one after the other. */
export interface EvaluationsOptions extends Omit<EvaluationOptions, 'now' | 'retrieve' | 'subject'> {
  /** When the evaluation of a subject began; asked for when a definition asks for the time. */
  readonly now: () => Date
}

/** What is known of one subject. */
interface Own extends Pick<Evaluation, 'keptValues' | 'sift'> {
  readonly subject: EvaluationOptions['subject']
  readonly retrieve: EvaluationOptions['retrieve'] | undefined
}

/**
 * Begins the evaluation of one subject after the other. It is one object that is used again for the next subject, so it must not be kept. What is
 * made for each subject costs as much as evaluating a small Measure.
 */
export function createEvaluations({
  now,
  offset = 0,
  onMessage = () => undefined,
  onNow,
  maxSteps = MAX_STEPS,
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
