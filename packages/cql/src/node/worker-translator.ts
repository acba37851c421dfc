import { Worker } from 'node:worker_threads'
import { OperationError } from 'fhir-ops/errors'
import type { TypeModel } from 'fhir-ops/fhirpath'
import { modelTexts, type CqlTranslator, type Translation } from '../translator/translator.js'

/** How translations run. */
export interface WorkerTranslatorOptions {
  /** The FHIR types, for `using FHIR`. */
  readonly model?: TypeModel | undefined
  /** Longest time of one translation in milliseconds, loading the translator included. Default 20,000. */
  readonly timeoutMs?: number
  /** Longest text in characters, each included library by itself. Default 500,000. */
  readonly maxLength?: number
}

/** A translator that owns a thread. */
export interface WorkerTranslator extends CqlTranslator {
  /** Ends the thread. */
  close(): Promise<void>
}

interface Waiting {
  readonly resolve: (translation: Translation) => void
  readonly reject: (error: Error) => void
  readonly timer: NodeJS.Timeout
}

/**
 * The reference translator in a thread of its own, which is started at first use, and ended when a text takes too long.
 *
 * `translate` rejects with an `OperationError`: `too-costly` for texts that are too long or take too long, `not-supported` when the package
 * `@cqframework/cql` is not installed.
 */
export function createWorkerTranslator({ model, timeoutMs = 20_000, maxLength = 500_000 }: WorkerTranslatorOptions = {}): WorkerTranslator {
  let thread: TranslatorThread | undefined
  return {
    translate: async (text, includes = new Map()) => {
      if ([text, ...includes.values()].some((one) => one.length > maxLength))
        throw new OperationError('too-costly', `A CQL library may have at most ${maxLength} characters.`)
      thread = thread?.hasEnded() === false ? thread : startThread(model, timeoutMs)
      return await thread.ask(text, includes)
    },
    close: async () => await thread?.end(),
  }
}

interface TranslatorThread {
  ask(text: string, includes: ReadonlyMap<string, string>): Promise<Translation>
  hasEnded(): boolean
  end(): Promise<void>
}

interface Answer {
  readonly id: number
  readonly translation?: Translation
  readonly failure?: string
}

/** Starts the thread. When one text takes too long it is ended, and all that wait fail with it. */
function startThread(model: TypeModel | undefined, timeoutMs: number): TranslatorThread {
  const worker = new Worker(new URL('./worker.js', import.meta.url), {
    workerData: model === undefined ? undefined : modelTexts(model),
    // The package writes a line when it is loaded, which must not reach the output of a command.
    stdout: true,
  })
  worker.unref()
  let ended = false
  let nextId = 0
  const waiting = new Map<number, Waiting>()
  const fail = (error: Error): void => {
    ended = true
    void worker.terminate()
    for (const { reject, timer } of waiting.values()) {
      clearTimeout(timer)
      reject(error)
    }
    waiting.clear()
  }
  worker.on('error', (cause) => fail(new OperationError('not-supported', 'The CQL translator ended.', { cause })))
  worker.on('message', ({ id, translation, failure }: Answer) => {
    const asked = waiting.get(id)
    if (asked === undefined) return
    waiting.delete(id)
    clearTimeout(asked.timer)
    if (translation !== undefined) asked.resolve(translation)
    else
      asked.reject(
        new OperationError('not-supported', 'CQL text cannot be translated here: the package @cqframework/cql failed.', { cause: failure }),
      )
  })
  return {
    hasEnded: () => ended,
    end: async () => {
      fail(new OperationError('aborted', 'The CQL translator was closed.'))
      await worker.terminate()
    },
    ask: (text, includes) =>
      new Promise((resolve, reject) => {
        const id = nextId++
        const tooLong = new OperationError('too-costly', `A translation may take at most ${timeoutMs / 1000} seconds.`)
        waiting.set(id, { resolve, reject, timer: setTimeout(() => fail(tooLong), timeoutMs) })
        worker.postMessage({ id, text, includes })
      }),
  }
}
