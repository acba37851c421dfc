import { Worker } from 'node:worker_threads'
import { OperationError } from 'fhir-ops/errors'
import { packageFileProblem, threadArguments } from 'fhir-ops/internal/work'
import type { Command } from '../commands/command.js'
import type { ToWorker, WorkerTask, Answer, TimeLimit } from './write-group.js'

/** A thread that runs commands. The first call starts it, and so does the first call after it has ended. */
export interface WorkerLane {
  /** @param limit Time limit of a read. */
  call<Args, Result>(command: Command<Args, Result>, args: Args, limit?: TimeLimit): Promise<Result>
  /** Resolves when all earlier calls have been answered and the thread has ended. */
  close(): Promise<void>
}

/** A call that waits for its answer. Method syntax, so that calls with different results fit one map. */
interface Waiting {
  resolve(result: unknown): void
  reject(error: OperationError): void
}

interface StartedThread {
  readonly worker: Worker
  /** Makes the thread end, which the process waits for. */
  readonly end: (message: 'close' | 'leave') => void
  readonly waiting: Map<number, Waiting>
  readonly ended: Promise<void>
}

interface Thread extends StartedThread {
  /** Timer that restarts with each call. */
  readonly idle: NodeJS.Timeout | undefined
}

/** Options of a lane. */
interface LaneOptions {
  /** Time without calls after which the thread ends, in milliseconds. Default: never. */
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
  const leave = ({ end, waiting, ended }: StartedThread): void => {
    if (waiting.size > 0) return void thread?.idle?.refresh()
    end('leave')
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
      // Never run two threads at a time: the new thread would find the file locked by the old one.
      return leaving === undefined ? called() : leaving.then(called)
    },
    async close() {
      await leaving
      // What a thread that has ended wrote is still in the log; another one moves it into the file.
      if (hasLeft && task.role === 'writer') running()
      if (thread === undefined) return
      thread.end('close')
      await thread.ended
    },
  }
}

/** A separate function, because a closure that waits for the answer would otherwise retain the arguments, which are megabytes in a load. */
async function answerTo<Result>(waiting: Map<number, Waiting>, id: number): Promise<Result> {
  return new Promise<Result>((resolve, reject) => {
    waiting.set(id, { resolve: (result: Result) => resolve(result), reject })
  })
}

/** Under load, the engine's young generation in a thread may grow to 70 MB, which is released late. Objects here live only for one call. */
const YOUNG = { maxYoungGenerationSizeMb: 24 }

/** Starts a thread. It is referenced only while a call waits or it is to end, so that the process can end while the thread is idle. */
function startThread(task: WorkerTask): StartedThread {
  const worker = newWorker(task)
  const waiting = new Map<number, Waiting>()
  let cause: unknown
  let isEnding = false
  worker.unref()
  worker.on('message', (answers: readonly Answer[]) => {
    for (const answer of answers) settle(waiting, answer)
    if (waiting.size === 0 && !isEnding) worker.unref()
  })
  worker.on('error', (error) => {
    cause = error
  })
  const ended = new Promise<void>((resolve) => {
    worker.on('exit', () => {
      for (const call of waiting.values()) call.reject(threadFailure('A thread of the database ended.', cause))
      resolve()
    })
  })
  const end = (message: 'close' | 'leave'): void => {
    isEnding = true
    worker.ref()
    send(worker, message)
  }
  return { worker, waiting, end, ended }
}

function newWorker(task: WorkerTask): Worker {
  try {
    return new Worker(workerFile(), {
      workerData: task,
      env: {},
      execArgv: threadArguments(process, import.meta.url),
      resourceLimits: YOUNG,
    })
  } catch (cause) {
    throw threadFailure('A thread of the database cannot be started.', cause)
  }
}

function threadFailure(message: string, cause: unknown): OperationError {
  return new OperationError('storage-unavailable', packageFileProblem(cause, '@fhir-ops/sqlite') ?? message, { cause })
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

/** The worker file next to the built modules; tests run the sources but use the built worker. */
function workerFile(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? '../../dist/worker.js' : './worker.js', import.meta.url)
}
