import { parentPort, workerData } from 'node:worker_threads'
import type { OperationContext } from 'fhir-ops/context'
import { evaluateMeasurePart } from 'fhir-ops/evaluate'
import type { CqlTranslator, Translation } from '../translator/translator.js'
import type { OpenMeasureThread, ThreadMessage, ThreadTask, TranslatedMessage } from './measure-threads.js'
import { errorOf, failureOf } from './thread-failure.js'

/** Minimum time between two progress messages. */
const PROGRESS_MS = 100

const task: ThreadTask = workerData
const waiting = new Map<number, PromiseWithResolvers<Translation>>()
parentPort?.on('message', ({ number, translation, failure }: TranslatedMessage) => {
  const asked = waiting.get(number)
  waiting.delete(number)
  if (translation !== undefined) asked?.resolve(translation)
  else asked?.reject(errorOf(failure ?? { message: 'The text was not translated.' }))
})

/** Sends texts to the thread that started this one, which translates them. */
const translator: CqlTranslator = {
  translate: async (text, includes = new Map(), models = new Map()) => {
    const number = waiting.size === 0 ? 1 : Math.max(...waiting.keys()) + 1
    const answer = Promise.withResolvers<Translation>()
    waiting.set(number, answer)
    send({ asked: { number, text, includes, models } })
    return await answer.promise
  },
}

function send(message: ThreadMessage): void {
  parentPort?.postMessage(message)
}

async function evaluate({ module, data, input, part }: ThreadTask): Promise<void> {
  const loaded: unknown = await import(module)
  if (!isOpener(loaded)) throw new TypeError(`${module} exports no function openThread.`)
  const { ctx, languages = [], close } = await loaded.openThread(data, translator)
  try {
    send({ part: await evaluateMeasurePart(reporting(ctx), input, part, { languages }) })
  } finally {
    await close?.()
  }
}

function reporting(ctx: OperationContext): OperationContext {
  let next = 0
  return {
    ...ctx,
    onProgress: ({ done, total }) => {
      if (performance.now() < next) return
      next = performance.now() + PROGRESS_MS
      send({ progress: { done, total } })
    },
  }
}

function isOpener(value: unknown): value is { readonly openThread: OpenMeasureThread } {
  return typeof value === 'object' && value !== null && 'openThread' in value && typeof value.openThread === 'function'
}

evaluate(task).then(
  () => parentPort?.close(),
  (error: unknown) => {
    send({ failure: failureOf(error) })
    parentPort?.close()
  },
)
