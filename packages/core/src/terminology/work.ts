import type { Pace } from '../context/index.js'

/** Long work that can be interrupted: it yields every few hundred steps, and returns its result. */
export type Work<T> = Generator<void, T, void>

/** Does the work in one go. */
export function finished<T>(work: Work<T>): T {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}

/** Does the work while other work runs in between. @throws {OperationError} as `Pace.pause`. */
export async function paced<T>(work: Work<T>, pace: Pace): Promise<T> {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
    if (pace.due()) await pace.pause()
  }
}
