import { Worker, type MessagePort, type ResourceLimits } from 'node:worker_threads'
import { OperationError, type ErrorCode } from 'fhir-ops/errors'

/** A thread that answers messages in their order. */
export interface Thread<Question, Answer> {
  /** @throws {OperationError} as what the thread answers with. */
  ask(question: Question): Promise<Answer>
  end(): Promise<unknown>
}

/**
 * Starts a thread.
 *
 * @param file Of the program, below the source folder and without extension: `load/indexing-thread`. Tests run the sources, which use the built thread.
 * @param resourceLimits Of memory. Default: those of Node.
 */
export function startThread<Question, Answer>(
  file: string,
  workerData: unknown,
  resourceLimits: ResourceLimits = {},
): Thread<Question, Answer> {
  const url = new URL(import.meta.url.endsWith('.ts') ? `../dist/${file}.js` : `./${file}.js`, import.meta.url)
  const worker = new Worker(url, { workerData, env: {}, execArgv: [], resourceLimits })
  /** In the order of sending, which is that of the answers. */
  const waiting: PromiseWithResolvers<Answer>[] = []
  let failure: Error | undefined
  worker.on('message', (sent: Sent<Answer>) => {
    const next = waiting.shift()
    if (sent.refusal === undefined) next?.resolve(sent.answer)
    else next?.reject(new OperationError(sent.refusal.code, sent.refusal.message))
  })
  worker.on('error', (error) => {
    failure = error
    for (const answer of waiting.splice(0)) answer.reject(error)
  })
  return {
    async ask(question) {
      if (failure !== undefined) throw failure
      const answer = Promise.withResolvers<Answer>()
      waiting.push(answer)
      worker.postMessage(question)
      return answer.promise
    },
    end: async () => worker.terminate(),
  }
}

/** What a thread sends for a message. Errors lose their class on their way to another thread. */
type Sent<Answer> =
  | { readonly answer: Answer; readonly refusal?: undefined }
  | { readonly refusal: { readonly code: ErrorCode; readonly message: string } }

/** Answers the messages of a thread, one after the other: what the program of `startThread` does. */
export function answerMessages<Question, Answer>(port: MessagePort, answer: (question: Question) => Answer | Promise<Answer>): void {
  let last: Promise<void> = Promise.resolve()
  const answerAfter = async (before: Promise<void>, question: Question): Promise<void> => {
    await before
    port.postMessage(await sentFor(() => answer(question)))
  }
  port.on('message', (question: Question) => {
    last = answerAfter(last, question)
  })
}

async function sentFor<Answer>(answer: () => Answer | Promise<Answer>): Promise<Sent<Answer>> {
  try {
    return { answer: await answer() }
  } catch (error) {
    if (!(error instanceof OperationError)) throw error
    return { refusal: { code: error.code, message: error.message } }
  }
}
