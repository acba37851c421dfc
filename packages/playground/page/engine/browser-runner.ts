import { answerOf, type Answer, type Call, type Runner } from './call.js'
import type { WorkerMessage, WorkerRequest } from './messages.js'

interface Waiting {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: Error) => void
}

/** Runs calls in a worker of this page: nothing leaves the browser. */
export interface BrowserRunner extends Runner {
  /** Milliseconds until the engines and the definitions of R4 were there. @throws {Error} when they cannot be loaded. */
  readonly ready: Promise<number>
}

/** Starts the worker, which loads the definitions at once. */
export function browserRunner(): BrowserRunner {
  const worker = new Worker(new URL('worker.ts', import.meta.url), { type: 'module' })
  const waiting = new Map<number, Waiting>()
  const ready = Promise.withResolvers<number>()
  let last = 0

  worker.addEventListener('message', ({ data }: MessageEvent<WorkerMessage>) => {
    if (data.kind === 'ready') return ready.resolve(data.ms)
    const one = data.id === undefined ? undefined : waiting.get(data.id)
    if (data.id !== undefined) waiting.delete(data.id)
    if (data.kind === 'answer') return one?.resolve(answerOf(data))
    const error = new Error(data.message)
    if (data.id === undefined) failAll(error)
    else one?.reject(error)
  })
  worker.addEventListener('error', (event) => failAll(new Error(event.message || 'The engines could not be loaded.')))

  function failAll(error: Error): void {
    ready.reject(error)
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }

  function run(call: Call, signal: AbortSignal): Promise<Answer> {
    const id = (last += 1)
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject })
      signal.addEventListener('abort', () => reject(new DOMException('Aborted', 'AbortError')))
      worker.postMessage({ id, call } satisfies WorkerRequest)
    })
  }
  return { place: 'this browser', ready: ready.promise, run }
}
