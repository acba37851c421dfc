import { OperationError } from 'fhir-ops/errors'
import type { Progress } from 'fhir-ops/context'
import { utf8Length } from 'fhir-ops/internal/text'
import { createExecutor, type Executor } from '../executor.js'
import type { Answer } from '../http/answer.js'
import type { HandlerLimits } from '../limits.js'

/** A request that is answered asynchronously. */
export interface Job {
  readonly id: string
  /** Progress of the work, if it reports any. */
  readonly progress: Progress | undefined
  /** The answer, once the work has ended; a failure is an answer too. */
  readonly answer: Answer | undefined
  /** When the answer is removed; absent while the work runs. */
  readonly expires: Date | undefined
}

/** The work of a job. */
interface JobWork {
  /** Bytes of the request, which stay in memory while it waits or runs. */
  readonly bytes: number
  readonly run: (signal: AbortSignal, onProgress: (progress: Progress) => void) => Promise<Answer>
  /** Makes the answer for a failure. */
  readonly failed: (thrown: unknown) => Answer
}

/** Asynchronous requests and their answers, visible only to the session that made the request. They are lost when the process ends. */
export interface Jobs {
  /**
   * Starts the work, or queues it.
   *
   * @param owner The login id of the session; absent without sessions.
   * @throws {OperationError} `throttled` if too many jobs, or bytes of answers, are stored; `unavailable` after `close`.
   */
  start(owner: string | undefined, work: JobWork): Job
  /** Returns a job of this owner; `undefined` also for another owner's job. */
  find(owner: string | undefined, id: string): Job | undefined
  /** Cancels the work, if it still runs, and discards the answer. Returns false if the owner has no such job. */
  remove(owner: string | undefined, id: string): boolean
  /** Refuses new jobs, waits for running ones, and cancels those that take too long. */
  close(): Promise<void>
}

/** What jobs need from the service. */
interface JobsOptions {
  readonly limits: Pick<HandlerLimits, 'asyncRuns' | 'asyncResults' | 'asyncBytes' | 'asyncTimeoutMs' | 'closeMs'>
  readonly now: () => Date
  readonly newId: () => string
}

/** How long answers are stored, in milliseconds. */
const KEPT_MS = 86_400_000
/** One session may have this fraction (1/5) of all jobs. */
const SHARE = 5

interface Entry {
  readonly owner: string | undefined
  readonly controller: AbortController
  job: Job
  bytes: number
  /** When the answer is discarded, on the monotonic clock, because the system clock may jump. */
  forgetAt: number
}

/** Creates the jobs of a service. */
export function createJobs({ limits, now, newId }: JobsOptions): Jobs {
  const executor = createExecutor({ concurrency: limits.asyncRuns, queue: limits.asyncResults, closeMs: limits.closeMs })
  const entries = new Map<string, Entry>()
  const purge = (): void => {
    for (const [id, { forgetAt }] of entries) if (forgetAt <= performance.now()) entries.delete(id)
  }
  const own = (owner: string | undefined, id: string): Entry | undefined => {
    purge()
    const entry = entries.get(id)
    return entry?.owner === owner ? entry : undefined
  }
  const keptBytes = (): number => entries.values().reduce((sum, { bytes }) => sum + bytes, 0)
  return {
    start: (owner, work) => {
      purge()
      checkRoom({ entries, executor, limits, owner, bytes: keptBytes() + work.bytes })
      const job: Job = { id: newId(), progress: undefined, answer: undefined, expires: undefined }
      const entry: Entry = { owner, controller: new AbortController(), job, bytes: work.bytes, forgetAt: Infinity }
      entries.set(job.id, entry)
      void runToEnd({ work, entry, executor, timeoutMs: limits.asyncTimeoutMs }).then((answer) => {
        const bytes = answer.body === undefined ? 0 : utf8Length(answer.body)
        entry.bytes = 0
        const kept = keptBytes() + bytes <= limits.asyncBytes ? answer : work.failed(tooMuch())
        entry.bytes = kept === answer ? bytes : 0
        entry.forgetAt = performance.now() + KEPT_MS
        entry.job = { ...entry.job, answer: kept, expires: new Date(now().getTime() + KEPT_MS) }
      })
      return job
    },
    find: (owner, id) => own(owner, id)?.job,
    remove: (owner, id) => {
      const entry = own(owner, id)
      entry?.controller.abort()
      return entry !== undefined && entries.delete(id)
    },
    close: () => executor.close(),
  }
}

interface Room {
  readonly entries: ReadonlyMap<string, Entry>
  readonly executor: Executor
  readonly limits: JobsOptions['limits']
  readonly owner: string | undefined
  readonly bytes: number
}

function checkRoom({ entries, executor, limits, owner, bytes }: Room): void {
  if (executor.isClosed()) throw new OperationError('unavailable', 'The server is shutting down.', { retryAfterSeconds: 5 })
  const ownCount = entries.values().reduce((count, entry) => count + Number(entry.owner === owner), 0)
  const most = owner === undefined ? limits.asyncResults : Math.max(1, Math.floor(limits.asyncResults / SHARE))
  if (entries.size < limits.asyncResults && ownCount < most && bytes < limits.asyncBytes) return
  throw new OperationError('throttled', 'Too many asynchronous requests are kept. Delete those that are done with.', {
    retryAfterSeconds: 60,
  })
}

function tooMuch(): OperationError {
  return new OperationError('too-costly', 'The answer is too large to be kept.')
}

interface Run {
  readonly work: JobWork
  readonly entry: Entry
  readonly executor: Executor
  readonly timeoutMs: number
}

/** Returns the answer of a job; never rejects. */
async function runToEnd({ work, entry, executor, timeoutMs }: Run): Promise<Answer> {
  const onProgress = (progress: Progress): void => {
    entry.job = { ...entry.job, progress }
  }
  try {
    const { signal } = entry.controller
    return await executor.run({ caller: { signal }, timeoutMs, run: (ownSignal) => work.run(ownSignal, onProgress) })
  } catch (thrown) {
    return work.failed(thrown)
  }
}
