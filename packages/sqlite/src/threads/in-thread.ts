import { OperationError } from 'fhir-ops/errors'
import type { Executor } from '../commands/command.js'
import { transaction, type SqliteDriver } from '../database/driver.js'
import { revisionOf } from '../commands/revision.js'

/** Runs commands at once in the calling thread, each write in a transaction of its own. */
export function inThread(db: SqliteDriver): Executor {
  let open = true
  const callNow: Executor['callNow'] = (command, args) => {
    if (!open) throw closedError()
    return command.run(db, args)
  }
  return {
    async call(command, args) {
      if (!open) throw closedError()
      return command.lane === 'write' ? transaction(db, () => command.run(db, args)) : command.run(db, args)
    },
    callNow,
    revision: revisionOf(callNow),
    async close() {
      if (open) db.close()
      open = false
    },
  }
}

/** What calls get after `close`. */
export function closedError(): OperationError {
  return new OperationError('storage-unavailable', 'The storage is closed.')
}
