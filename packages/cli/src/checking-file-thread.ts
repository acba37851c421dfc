import { parentPort, type MessagePort } from 'node:worker_threads'
import { OperationError, type ErrorCode } from 'fhir-ops/errors'
import { checkSqlite } from '@fhir-ops/sqlite'

/** What the thread answers to the path of a database file: its damages, or why it cannot be read. */
export type FileAnswer =
  | { readonly problems: readonly string[]; readonly error?: never }
  | { readonly problems?: never; readonly error: { readonly code: ErrorCode; readonly message: string } }

/** The thread behind `fhir-ops check`: a file of some gigabytes takes minutes, in one call of SQLite. */
function serve(port: MessagePort): void {
  port.on('message', (file: string) => port.postMessage(answerTo(file)))
}

/** Errors lose their class on their way to another thread. */
function answerTo(file: string): FileAnswer {
  try {
    return { problems: checkSqlite(file) }
  } catch (error) {
    if (!(error instanceof OperationError)) throw error
    return { error: { code: error.code, message: error.message } }
  }
}

if (parentPort !== null) serve(parentPort)
