import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from 'node:worker_threads'
import { checkInPlace, openToSearch, openToWrite } from './database/node-file.js'
import { failed, runGroup, runRead, type Answer, type Call } from './threads/write-group.js'
import type { ToWorker, WorkerTask } from './threads/worker-task.js'

/** Writes that may share a transaction. */
const MAX_GROUP = 256

/** A thread behind `openSqlite`: runs the calls that it gets, several writes at a time, until it is told to close. */
function serve(port: MessagePort, task: WorkerTask): void {
  const writes = task.role === 'writer'
  checkInPlace(task)
  let db = writes ? openToWrite(task) : openToSearch(task)
  const run = (calls: readonly Call[]): readonly Answer[] => {
    try {
      checkInPlace(task)
    } catch (error) {
      return calls.map((call) => failed(call, error))
    }
    return writes ? runGroup(db, calls) : calls.map((call) => runRead(db, call))
  }
  const close = (): void => {
    if (writes) db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    db.close()
    port.close()
  }
  port.on('message', (first: ToWorker) => {
    const { calls, closing } = gathered(port, first, writes ? MAX_GROUP : 1)
    if (calls.length > 0) port.postMessage(run(calls))
    if (closing) return close()
    if (writes || !db.isWorn()) return
    db.close()
    db = openToSearch(task)
  })
}

/** The message and those that wait behind it. While a group is flushed the next one gathers. */
function gathered(port: MessagePort, first: ToWorker, most: number): { readonly calls: readonly Call[]; readonly closing: boolean } {
  const calls: Call[] = []
  let message: ToWorker | undefined = first
  while (message !== undefined && message !== 'close') {
    calls.push(message)
    message = calls.length < most ? receiveMessageOnPort(port)?.message : undefined
  }
  return { calls, closing: message === 'close' }
}

if (parentPort !== null) serve(parentPort, workerData)
