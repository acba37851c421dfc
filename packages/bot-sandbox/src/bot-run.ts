import { OperationError } from 'fhir-ops/errors'
import type { BotTask } from 'fhir-ops/internal/execute'
import type { LogLine, Outcome, RunMessage } from './protocol.js'

/** How a run ended. */
export interface Ended {
  readonly outcome: Outcome
  readonly log: readonly LogLine[]
}

/** A run that was asked for, and has not ended. */
export interface BotRun {
  /** Later ones have greater numbers. */
  readonly id: number
  readonly task: BotTask
  /** What a thread has to know of it. */
  readonly work: Pick<RunMessage, 'code' | 'event' | 'grants' | 'isOnlyCompiled' | 'limits'>
  /** On the clock of `performance.now()`. */
  readonly askedAt: number
  readonly end: (ended: Ended) => void
  readonly fail: (error: OperationError) => void
}

/** The error of a run whose caller has gone. */
export function aborted(): OperationError {
  return new OperationError('aborted', 'The request was cancelled.')
}
