import { OperationError } from 'fhir-ops/errors'

/** So many at once, so many waiting, in the order of arrival. */
export interface Turns {
  /** Resolves when it is the caller's turn; `end` must follow. @throws {OperationError} `throttled` when too many wait. */
  take(): Promise<void>
  end(): void
  /** Resolves when nobody has a turn. */
  idle(): Promise<void>
}

/** Makes the turns of a service. */
export function createTurns({ concurrency, queue }: { readonly concurrency: number; readonly queue: number }): Turns {
  const waiting: (() => void)[] = []
  const idlers: (() => void)[] = []
  let active = 0
  return {
    async take() {
      if (active < concurrency) {
        active++
        return
      }
      if (waiting.length >= queue) throw new OperationError('throttled', 'Too many requests at once.', { retryAfterSeconds: 1 })
      await new Promise<void>((resolve) => waiting.push(resolve))
    },
    end() {
      const next = waiting.shift()
      if (next !== undefined) return next()
      active--
      if (active === 0) for (const idler of idlers.splice(0)) idler()
    },
    async idle() {
      if (active > 0) await new Promise<void>((resolve) => idlers.push(resolve))
    },
  }
}
