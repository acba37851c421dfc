import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { isObject } from 'fhir-ops/internal/json'
import { r4 } from '@fhir-ops/r4'
import { answerMessages } from '../thread.js'
import { prepare } from './prepare.js'
import type { Source } from './sources.js'

/** The thread behind `indexingThreads`: receives lists of sources and answers each with the prepared entries. */
function serve(port: MessagePort): void {
  const { indexer } = r4({ words: isObject(workerData) && workerData['words'] === true })
  answerMessages(port, (sources: readonly Source[]) => prepare(sources, indexer))
}

if (parentPort !== null) serve(parentPort)
