import { Worker } from 'node:worker_threads'
import { OperationError } from 'fhir-ops/errors'
import type { Command } from '../commands/command.js'
import type { ToWorker, WorkerTask, Answer, TimeLimit } from './write-group.js'

/** A thread that commands are sent to. It is started by the first call, and again by the first call after it ended. */
export interface WorkerLane {
  /** @param limit Of a read. */
  call<Args, Result>(command: Command<Args, Result>, args: Args, limit?: TimeLimit): Promise<Result>
  /** Resolves when everything called before is answered and the thread has ended. */
  close(): Promise<void>
}

/** A call that waits for its answer. Method syntax, so that calls of all results fit one map. */
interface Waiting {
  resolve(result: unknown): void
  reject(error: OperationError): void
}

interface StartedThread {
  readonly worker: Worker
  readonly waiting: Map<number, Waiting>
  readonly ended: Promise<void>
}

interface Thread extends StartedThread {
  /** Begins again with each call. */
  readonly idle: NodeJS.Timeout | undefined
}

/** How a lane is kept. */
export interface LaneOptions {
  /** A thread that had no call for so long ends; default never. */
  readonly idleMs?: number
}

export function workerLane(task: WorkerTask, { idleMs }: LaneOptions = {}): WorkerLane {
  let thread: Thread | undefined
  let leaving: Promise<void> | undefined
  let hasLeft = false
  let calls = 0
  const running = (): Thread => {
    if (thread !== undefined) return thread
    const started = startThread(task)
    const idle = idleMs === undefined ? undefined : setTimeout(() => leave(started), idleMs).unref()
    thread = { ...started, idle }
    void started.ended.then(() => {
      clearTimeout(idle)
      thread = undefined
    })
    return thread
  }
  const leave = ({ worker, waiting, ended }: StartedThread): void => {
    if (waiting.size > 0) return void thread?.idle?.refresh()
    worker.ref()
    send(worker, 'leave')
    hasLeft = true
    leaving = ended.then(() => void (leaving = undefined))
  }
  return {
    call<Args, Result>(command: Command<Args, Result>, args: Args, limit?: TimeLimit) {
      const called = async (): Promise<Result> => {
        const { worker, waiting, idle } = running()
        idle?.refresh()
        const id = calls++
        send(worker, { id, command: command.name, args, limit })
        worker.ref()
        return answerTo(waiting, id)
      }
      // Never two threads at a time: the one that comes would find the file locked by the one that goes.
      return leaving === undefined ? called() : leaving.then(called)
    },
    async close() {
      await leaving
      // What a thread has written that has left is still in the log.
      if (hasLeft && task.role === 'writer') running()
      if (thread === undefined) return
      thread.worker.ref()
      send(thread.worker, 'close')
      await thread.ended
    },
  }
}

/** A function of its own: what waits for the answer would otherwise keep the arguments, of which a load sends megabytes at a time. */
async function answerTo<Result>(waiting: Map<number, Waiting>, id: number): Promise<Result> {
  return new Promise<Result>((resolve, reject) => {
    waiting.set(id, { resolve: (result: Result) => resolve(result), reject })
  })
}

/** Under load the engine lets what is young in a thread take 70 MB, and gives it back late. What there is here lives for one call. */
const YOUNG = { maxYoungGenerationSizeMb: 24 }

/** A process may end while the thread is idle: it is referenced only as long as a call waits. */
function startThread(task: WorkerTask): StartedThread {
  const worker = new Worker(workerFile(), { workerData: task, env: {}, execArgv: [], resourceLimits: YOUNG })
  const waiting = new Map<number, Waiting>()
  let cause: unknown
  worker.unref()
  worker.on('message', (answers: readonly Answer[]) => {
    for (const answer of answers) settle(waiting, answer)
    if (waiting.size === 0) worker.unref()
  })
  worker.on('error', (error) => {
    cause = error
  })
  const ended = new Promise<void>((resolve) => {
    worker.on('exit', () => {
      for (const call of waiting.values())
        call.reject(new OperationError('storage-unavailable', 'A thread of the database ended.', { cause }))
      resolve()
    })
  })
  return { worker, waiting, ended }
}

function send(worker: Worker, message: ToWorker): void {
  worker.postMessage(message)
}

function settle(waiting: Map<number, Waiting>, answer: Answer): void {
  const call = waiting.get(answer.id)
  waiting.delete(answer.id)
  if ('result' in answer) call?.resolve(answer.result)
  else call?.reject(new OperationError(answer.code, answer.message, { cause: new Error(answer.cause) }))
}

/** Beside the built modules; tests run the sources, which use the built thread. */
function workerFile(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? '../../dist/worker.js' : './worker.js', import.meta.url)
}
