import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { OperationError } from 'fhir-ops/errors'
import { openEngine, type Engine } from '../engine.js'
import type { Source } from '../load/sources.js'
import { checkSource, type CheckingOptions, type CheckingAnswer } from './check-in-order.js'
import type { ResourceResult } from './report.js'

/** The thread behind `checkInOrder`: gets lists of resources and answers each by their results. */
function serve(port: MessagePort, { engine: options, asked }: CheckingOptions): void {
  const silent = { out: () => {}, err: () => {}, stdin: () => Promise.resolve('') }
  const opened = openEngine(options, silent)
  let last: Promise<unknown> = opened
  const answer = async (sources: readonly Source[], before: Promise<unknown>): Promise<void> => {
    await before
    port.postMessage(await answerTo(sources, opened, asked))
  }
  port.on('message', (sources: readonly Source[]) => {
    last = answer(sources, last)
  })
}

/** Errors lose their class on their way to another thread. */
async function answerTo(sources: readonly Source[], opened: Promise<Engine>, asked: CheckingOptions['asked']): Promise<CheckingAnswer> {
  try {
    const engine = await opened
    const results: ResourceResult[] = []
    for (const source of sources) results.push((await checkSource(source, engine, asked)).result)
    return { results }
  } catch (error) {
    if (!(error instanceof OperationError)) throw error
    return { error: { code: error.code, message: error.message } }
  }
}

if (parentPort !== null) serve(parentPort, workerData)
