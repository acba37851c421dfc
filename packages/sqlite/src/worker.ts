import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import type { SqliteDriver } from './database/driver.js'
import { checkInPlace, logWatch, openToSearch, openToWrite, type LogWatch } from './database/node-file.js'
import { failed, runGroup, runRead, type Answer, type Call, type ToWorker, type WorkerTask } from './threads/write-group.js'
import { handOverSets } from './sets/kept-sets.js'

/** Maximum number of writes in one transaction. */
const MAX_GROUP = 256

/** The thread behind `openSqlite`: runs calls, several writes at a time, until it receives `close`. */
function serve(port: MessagePort, task: WorkerTask): void {
  const writes = task.role === 'writer'
  let db: SqliteDriver | undefined
  let log: LogWatch | undefined
  // Opened for a call, so that the call can say why that failed.
  const opened = (): SqliteDriver => {
    checkInPlace(task)
    return (db ??= writes ? openToWrite(task) : openToSearch(task))
  }
  const run = (calls: readonly Call[]): readonly Answer[] => {
    let open: SqliteDriver
    try {
      open = opened()
      if (writes) (log ??= logWatch(open)).check()
    } catch (error) {
      return calls.map((call) => failed(call, error))
    }
    if (log === undefined) return calls.map((call) => runRead(open, call))
    const answers = runGroup(open, calls)
    log.note()
    return answers
  }
  const end = (word: 'close' | 'leave'): void => {
    // Even if its log was deleted, a connection that is open still has what was written to it.
    if (writes && word === 'close') (db ?? opened()).exec('PRAGMA wal_checkpoint(TRUNCATE)')
    db?.close()
    process.exit(0)
  }
  const waiting: Call[] = []
  let ending: 'close' | 'leave' | undefined
  const serveWaiting = (): void => {
    while (waiting.length > 0) {
      port.postMessage(run(waiting.splice(0, writes ? MAX_GROUP : 1)))
      if (writes || db?.isWorn() !== true) continue
      const worn = db
      db = openToSearch(task)
      handOverSets(worn, db)
      worn.close()
    }
    if (ending !== undefined) end(ending)
  }
  port.on('message', (message: ToWorker) => {
    // Messages that wait in the port are delivered before the immediate runs, so while one group is flushed, the next one collects.
    if (waiting.length === 0 && ending === undefined) setImmediate(serveWaiting)
    if (typeof message === 'string') ending ??= message
    else waiting.push(message)
  })
}

if (parentPort !== null) serve(parentPort, workerData)
