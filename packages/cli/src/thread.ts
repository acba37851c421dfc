import { Worker, type MessagePort, type ResourceLimits } from 'node:worker_threads'
import { OperationError, type ErrorCode } from 'fhir-ops/errors'
import { packageFileProblem, threadArguments } from 'fhir-ops/internal/work'

/** A thread that answers messages in order. */
export interface Thread<Question, Answer> {
  /** @throws {OperationError} the error with which the thread answers. */
  ask(question: Question): Promise<Answer>
  end(): Promise<unknown>
}

/**
 * Starts a thread.
 *
 * @param file File of the thread, below the source folder and without extension: `load/indexing-thread`. Tests run the sources but use the built thread.
 * @param resourceLimits Memory limits. Default: those of Node.
 */
export function startThread<Question, Answer>(
  file: string,
  workerData: unknown,
  resourceLimits: ResourceLimits = {},
): Thread<Question, Answer> {
  const url = new URL(import.meta.url.endsWith('.ts') ? `../dist/${file}.js` : `./${file}.js`, import.meta.url)
  const worker = new Worker(url, { workerData, env: {}, execArgv: threadArguments(process, import.meta.url), resourceLimits })
  /** In the order in which messages were sent, which is that of the answers. */
  const waiting: PromiseWithResolvers<Answer>[] = []
  let failure: Error | undefined
  worker.on('message', (sent: Sent<Answer>) => {
    const next = waiting.shift()
    if (sent.refusal === undefined) next?.resolve(sent.answer)
    else next?.reject(new OperationError(sent.refusal.code, sent.refusal.message))
  })
  worker.on('error', (error) => {
    const problem = packageFileProblem(error, '@fhir-ops/cli')
    failure = problem === undefined ? error : new OperationError('unavailable', problem, { cause: error })
    for (const answer of waiting.splice(0)) answer.reject(failure)
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

/** A message from a thread. Errors lose their class when they are sent to another thread. */
type Sent<Answer> =
  | { readonly answer: Answer; readonly refusal?: undefined }
  | { readonly refusal: { readonly code: ErrorCode; readonly message: string } }

/** Answers the messages to a thread, one after the other; called in the thread that `startThread` starts. */
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
