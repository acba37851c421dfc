import { OperationError } from '../errors/index.js'

const MAX_WORK = 50_000_000

/** The automaton steps that one call has taken. */
export interface Work {
  steps: number
}

/**
 * Counts steps, so that even a long text against a large pattern ends in time.
 *
 * @throws {OperationError} `too-costly` beyond 50 million.
 */
export function spendWork(work: Work, steps: number): void {
  work.steps += steps
  if (work.steps > MAX_WORK) throw new OperationError('too-costly', 'The regular expression takes too many steps on this text.')
}
