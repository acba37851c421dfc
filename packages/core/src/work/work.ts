/** Long work that can be interrupted: a generator that yields every few hundred steps, and returns the result. */
export type Work<T> = Generator<void, T, void>

/** Runs the work to its end without interruption. */
export function finished<T>(work: Work<T>): T {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}

/** The results of `change` for the items, one after the other. */
export function* mapped<T, R>(items: Iterable<T>, change: (item: T) => Work<R>): Work<readonly R[]> {
  const changed: R[] = []
  for (const item of items) {
    yield
    changed.push(yield* change(item))
  }
  return changed
}

/**
 * Work that is done once, even if several callers need its result at the same time: whichever caller continues does the next piece. After a failure, the
 * next caller starts it again.
 */
export function sharedWork<T>(make: () => Work<T>): () => Work<T> {
  let work: Work<T> | undefined
  let done: { readonly result: T } | undefined
  return function* shared() {
    while (done === undefined) {
      work ??= make()
      const step = nextOf(work, () => (work = undefined))
      if (step.done === true) {
        done = { result: step.value }
        work = undefined
      } else yield
    }
    return done.result
  }
}

function nextOf<T>(work: Work<T>, onFailure: () => void): IteratorResult<void, T> {
  try {
    return work.next()
  } catch (error) {
    onFailure()
    throw error
  }
}
