import { OperationError } from 'fhir-ops/errors'
import type { BotTask } from 'fhir-ops/internal/execute'
import type { LogLine, Outcome, RunMessage } from './protocol.js'

/** How a run ended. */
export interface Ended {
  readonly outcome: Outcome
  readonly log: readonly LogLine[]
}

/** A requested run that has not ended. */
export interface BotRun {
  /** Greater for later runs. */
  readonly id: number
  readonly task: BotTask
  /** The data that a thread needs to run it. */
  readonly work: Pick<RunMessage, 'code' | 'event' | 'grants' | 'isOnlyCompiled' | 'limits'>
  /** Time of the request, by `performance.now()`. */
  readonly askedAt: number
  readonly end: (ended: Ended) => void
  readonly fail: (error: OperationError) => void
}

/** The error of a run that its caller cancelled. */
export function aborted(): OperationError {
  return new OperationError('aborted', 'The request was cancelled.')
}
