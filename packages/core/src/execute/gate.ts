import { OperationError } from '../errors/index.js'

/** Lets a bounded number of works run at once and a bounded number wait. */
export interface Gate {
  /**
   * Runs the work when its turn comes.
   *
   * @throws {OperationError} `throttled` when too many wait or the turn does not come in time, `aborted` when `signal` is.
   */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

/** Bounds of a gate. */
export interface GateOptions {
  readonly concurrent: number
  readonly queued: number
  /** Longest wait for a turn. */
  readonly waitMs: number
}

/** Makes a gate; turns are given in the order of the calls. */
export function createGate(options: GateOptions): Gate {
  let running = 0
  const waiting = new Set<() => void>()
  const leave = () => {
    const [next] = waiting
    if (next === undefined) running -= 1
    else next()
  }
  const enter = async (signal: AbortSignal | undefined) => {
    if (running < options.concurrent) running += 1
    else if (waiting.size < options.queued) await turn({ waiting, waitMs: options.waitMs, signal })
    else throw throttled(options)
  }
  return {
    async run(work, signal) {
      if (signal?.aborted) throw aborted()
      await enter(signal)
      try {
        return await work()
      } finally {
        leave()
      }
    },
  }
}

interface Queue {
  readonly waiting: Set<() => void>
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
}

/** Resolves when `leave` hands over a place. */
function turn({ waiting, waitMs, signal }: Queue): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (end: () => void) => () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      waiting.delete(onTurn)
      end()
    }
    const onTurn = settle(resolve)
    const onAbort = settle(() => reject(aborted()))
    const timer = setTimeout(
      settle(() => reject(throttled({ waitMs }))),
      waitMs,
    )
    signal?.addEventListener('abort', onAbort)
    waiting.add(onTurn)
  })
}

function throttled({ waitMs }: { readonly waitMs: number }): OperationError {
  return new OperationError('throttled', 'Too many bots are running.', { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) })
}

function aborted(): OperationError {
  return new OperationError('aborted', 'The request was cancelled.')
}
