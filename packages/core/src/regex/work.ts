import { OperationError } from '../errors/index.js'

const MAX_WORK = 50_000_000

/** Learns of automaton steps as they are taken; may throw, which ends the call. */
export type SpendSteps = (steps: number) => void

/** The automaton steps that one call has taken. */
export interface Work {
  steps: number
  readonly spend?: SpendSteps | undefined
}

/**
 * Counts steps, so that even a long text against a large pattern ends in time.
 *
 * @throws {OperationError} `too-costly` beyond 50 million.
 */
export function spendWork(work: Work, steps: number): void {
  work.steps += steps
  work.spend?.(steps)
  if (work.steps > MAX_WORK) throw new OperationError('too-costly', 'The regular expression takes too many steps on this text.')
}
