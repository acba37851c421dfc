import { OperationError } from 'fhir-ops/errors'
import { unavailable } from './failure.js'

/** Keeps calls from an upstream that fails, and lets one through now and then to see whether it is back. */
export interface Breaker {
  /** @throws {OperationError} `storage-unavailable` at once, without a connection, while the upstream is left alone. */
  run<T>(call: () => Promise<T>): Promise<T>
}

const FAILURES_TO_OPEN = 5
const PROBE_EVERY_MS = 2_000

/** @param now Milliseconds of a clock that never goes back. */
export function createBreaker(now: () => number): Breaker {
  let failures = 0
  let nextProbe = 0
  return {
    async run(call) {
      if (failures >= FAILURES_TO_OPEN) {
        if (now() < nextProbe) throw unavailable('is not reachable', PROBE_EVERY_MS / 1_000)
        nextProbe = now() + PROBE_EVERY_MS
      }
      try {
        const result = await call()
        failures = 0
        return result
      } catch (error) {
        // A refusal is an answer all the same.
        failures = isFailure(error) ? failures + 1 : 0
        nextProbe = now() + PROBE_EVERY_MS
        throw error
      }
    },
  }
}

function isFailure(error: unknown): boolean {
  return !(error instanceof OperationError) || error.code.startsWith('storage-')
}
