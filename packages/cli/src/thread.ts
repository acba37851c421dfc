import { type ResourceLimits, Worker } from 'node:worker_threads'

/** A thread that answers messages in their order. */
export interface Thread<Question, Answer> {
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
  worker.on('message', (answer: Answer) => waiting.shift()?.resolve(answer))
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
