import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { openEngine } from '../engine.js'
import type { Source } from '../load/sources.js'
import { answerMessages } from '../thread.js'
import { checkSource, type CheckingOptions } from './check-in-order.js'
import type { ResourceResult } from './report.js'

/** The thread behind `checkInOrder`: receives lists of resources and answers each with their results, in order. */
function serve(port: MessagePort, { engine: options, asked }: CheckingOptions): void {
  const silent = { out: () => {}, err: () => {}, stdin: () => Promise.resolve('') }
  const opened = openEngine(options, silent)
  answerMessages(port, async (sources: readonly Source[]): Promise<readonly ResourceResult[]> => {
    const engine = await opened
    const results: ResourceResult[] = []
    for (const source of sources) results.push((await checkSource(source, engine, asked)).result)
    return results
  })
}

if (parentPort !== null) serve(parentPort, workerData)
