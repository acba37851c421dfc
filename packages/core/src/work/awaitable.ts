/** A value, or the promise of a value that is not yet available. */
export type Awaitable<T> = T | Promise<T>

/** Applies `make` to a value, immediately if it is available: then no promise is created, and other work does not run in between (bench `http`). */
export function after<T, R>(value: Awaitable<T>, make: (value: T) => Awaitable<R>): Awaitable<R> {
  return isPending(value) ? value.then(make) : make(value)
}

/** Returns the result of the work, or the result of `failed` for its error: `try` and `catch` for work that may be synchronous. */
export function attempt<T, R>(work: () => Awaitable<T>, failed: (error: unknown) => Awaitable<R>): Awaitable<T | R> {
  try {
    const result = work()
    return isPending(result) ? result.then<T | R, R>(undefined, failed) : result
  } catch (error) {
    return failed(error)
  }
}

/** Runs the work, and then `end`, whether or not the work failed: `try` and `finally` for work that may be synchronous. */
export function withFinally<T>(work: () => Awaitable<T>, end: () => void): Awaitable<T> {
  const ended = <R>(result: R): R => {
    end()
    return result
  }
  const failed = (error: unknown): never => {
    end()
    throw error
  }
  return after(attempt(work, failed), ended)
}

/** Returns a function that loads a value at its first call and keeps it. After a failure, the next call tries again. */
export function onDemand<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined
  const forget = (): void => {
    loaded = undefined
  }
  return () => {
    if (loaded === undefined) {
      loaded = load()
      loaded.catch(forget)
    }
    return loaded
  }
}

/** True for a promise, or any other object with the method `then`. */
export function isPending<T>(value: Awaitable<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
