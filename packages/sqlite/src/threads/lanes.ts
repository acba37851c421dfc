import { LRUCache } from 'lru-cache'
import { OperationError } from 'fhir-ops/errors'
import { type WorkerTask, monotonicMs, type ToWorker, type Answer, type TimeLimit } from './write-group.js'
import { Worker } from 'node:worker_threads'
import { packageFileProblem, threadArguments } from 'fhir-ops/internal/work'
import type { Command } from '../commands/command.js'

/** Time limits of searches. */
interface ReaderLimits {
  /** Turn on the quick thread, in milliseconds. Default 100. */
  readonly quickMs?: number
  /** Total time in milliseconds, including the time in the queue. */
  readonly timeoutMs: number
}

/**
 * The threads for reading: one for quick and one for slow searches, and one for scans, of which each page needs what the first one read. A search that
 * does not finish within its turn on the quick thread restarts on the slow one, after those already waiting there, with a turn ten times as long. For a
 * while, the same call starts directly on the slow thread, whose cache then has what it reads. Calls may also reject with `storage-timeout`.
 */
export function readerLanes(task: Omit<WorkerTask, 'role'>, { quickMs = 100, timeoutMs }: ReaderLimits): WorkerLane {
  const quick = workerLane({ ...task, role: 'reader' })
  const long = workerLane({ ...task, role: 'reader' }, { idleMs: SLOW_MS })
  const scans = workerLane({ ...task, role: 'reader' }, { idleMs: SLOW_MS })
  const underWay = new Set<Promise<unknown>>()
  const slow = new LRUCache<string, true>({
    max: MAX_SLOW,
    ttl: SLOW_MS,
    maxSize: MAX_SLOW_CHARACTERS,
    sizeCalculation: (_, key) => key.length,
  })
  const inTurns: WorkerLane['call'] = async (command, args) => {
    const until = monotonicMs() + timeoutMs
    if (command.lane === 'scan') return scans.call(command, args, { ms: timeoutMs, until })
    const key = JSON.stringify([command.name, args])
    let turn = slow.has(key) ? { lane: long, ms: longer(quickMs) } : { lane: quick, ms: quickMs }
    for (;;) {
      try {
        return await turn.lane.call(command, args, { ms: turn.ms, until })
      } catch (error) {
        if (!isTimeout(error) || monotonicMs() >= until) throw error
        slow.set(key, true)
        turn = { lane: long, ms: longer(turn.ms) }
      }
    }
  }
  return {
    async call(command, args) {
      const answer = inTurns(command, args)
      underWay.add(answer)
      try {
        return await answer
      } finally {
        underWay.delete(answer)
      }
    },
    async close() {
      await Promise.allSettled(underWay)
      await quick.close()
      await long.close()
      await scans.close()
    },
  }
}

/** Calls that recently ran on the slow thread, and how long they are remembered. When none is, the slow thread ends; that for scans ends after this time, too. */
const MAX_SLOW = 256
const MAX_SLOW_CHARACTERS = 1_000_000
const SLOW_MS = 60_000

function longer(ms: number): number {
  return 10 * ms + 100
}

function isTimeout(error: unknown): boolean {
  return error instanceof OperationError && error.code === 'storage-timeout'
}

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

/**
 * Under load, the engine's young generation in a thread may grow to 70 MB, which is released late; objects here live only for one call. For its code the
 * engine would reserve 512 MB of addresses, and where a process may not have them (`ulimit -v`), V8 ends it.
 */
const THREAD_LIMITS = { maxYoungGenerationSizeMb: 24, codeRangeSizeMb: 64 }

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
      resourceLimits: THREAD_LIMITS,
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
