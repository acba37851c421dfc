/** A value, or the promise of it where something has to be waited for. */
export type Awaitable<T> = T | Promise<T>

/** What `make` makes of a value, at once where the value is there: what is never waited for takes no turn behind other work, and no promise (bench `http`). */
export function after<T, R>(value: Awaitable<T>, make: (value: T) => Awaitable<R>): Awaitable<R> {
  return isPending(value) ? value.then(make) : make(value)
}

/** The result of the work, or what `failed` makes of its failure: `try` and `catch` for work that need not be waited for. */
export function attempt<T, R>(work: () => Awaitable<T>, failed: (error: unknown) => Awaitable<R>): Awaitable<T | R> {
  try {
    const result = work()
    return isPending(result) ? result.then<T | R, R>(undefined, failed) : result
  } catch (error) {
    return failed(error)
  }
}

/** Does the work, and `end` after it, whatever becomes of it: `try` and `finally` in the same way. */
export function attemptTo<T>(work: () => Awaitable<T>, end: () => void): Awaitable<T> {
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

/** What is loaded by the first call, and kept. What could not be loaded is tried again by the next one. */
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

/** True for what has to be waited for, of whatever library of promises. */
export function isPending<T>(value: Awaitable<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
