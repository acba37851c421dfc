import { OperationError } from '../errors/index.js'

const MAX_WORK = 50_000_000

/** Counts the automaton steps of one call, so that even a long text against a large pattern ends in time. */
export class Work {
  #steps = 0

  /** @throws {OperationError} `too-costly` beyond 50 million steps. */
  add(steps: number): void {
    this.#steps += steps
    if (this.#steps > MAX_WORK) throw new OperationError('too-costly', 'The regular expression takes too many steps on this text.')
  }
}
