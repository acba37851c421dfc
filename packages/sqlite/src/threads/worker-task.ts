import type { FileOptions } from '../database/node-file.js'
import type { Call } from './write-group.js'

/** What a thread is started with. */
export interface WorkerTask extends FileOptions {
  readonly role: 'writer' | 'reader'
}

/** What it gets: calls, answered in order by lists of `Answer`, and at the end one word. */
export type ToWorker = Call | 'close'
