import { OperationError } from 'fhir-ops/errors'
import type { Progress } from 'fhir-ops/context'
import { utf8Length } from 'fhir-ops/internal/text'
import { after, type Awaitable } from 'fhir-ops/internal/work'
import type { Principal } from 'fhir-ops/sessions'
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

/**
 * Asynchronous requests and their answers, visible only to the session that made the request, with the rights that it had. They are lost when the
 * process ends.
 */
export interface Jobs {
  /**
   * Starts the work, or queues it. If there is no free place, the jobs of sessions that are no longer active are removed.
   *
   * @param owner The caller; absent without sessions.
   * @throws {OperationError} `throttled` if too many jobs, or bytes of answers, are stored; `unavailable` after `close`; and errors of the
   *   session store.
   */
  start(owner: Principal | undefined, work: JobWork): Awaitable<Job>
  /** Returns a job of this owner; `undefined` also for another owner's job. */
  find(owner: Principal | undefined, id: string): Job | undefined
  /** Cancels the work, if it still runs, and discards the answer. Returns false if the owner has no such job. */
  remove(owner: Principal | undefined, id: string): boolean
  /** Refuses new jobs, waits for running ones, and cancels those that take too long. */
  close(): Promise<void>
}

/** What jobs need from the service. */
interface JobsOptions {
  readonly limits: Pick<HandlerLimits, 'asyncRuns' | 'asyncResults' | 'asyncBytes' | 'asyncTimeoutMs' | 'closeMs'>
  readonly now: () => Date
  readonly newId: () => string
  /** True if the session with this login id is active. */
  readonly isActive: (loginId: string) => Promise<boolean>
}

/** How long answers are stored, in milliseconds. */
const KEPT_MS = 86_400_000
/** One session may have this fraction (1/5) of all jobs. */
const SHARE = 5

interface Entry {
  readonly owner: Principal | undefined
  readonly controller: AbortController
  job: Job
  bytes: number
  /** When the answer is discarded, on the monotonic clock, because the system clock may jump. */
  forgetAt: number
}

type Entries = Map<string, Entry>

/** Creates the jobs of a service. */
export function createJobs({ limits, now, newId, isActive }: JobsOptions): Jobs {
  const executor = createExecutor({ concurrency: limits.asyncRuns, queue: limits.asyncResults, closeMs: limits.closeMs })
  const entries: Entries = new Map()
  const purge = (): void => {
    for (const [id, { forgetAt }] of entries) if (forgetAt <= performance.now()) entries.delete(id)
  }
  const own = (asker: Principal | undefined, id: string): Entry | undefined => {
    purge()
    const entry = entries.get(id)
    return entry !== undefined && mayAsk(asker, entry.owner) ? entry : undefined
  }
  const begin = (owner: Principal | undefined, work: JobWork): Job => {
    checkRoom({ entries, executor, limits, owner, bytes: work.bytes })
    const job: Job = { id: newId(), progress: undefined, answer: undefined, expires: undefined }
    const entry: Entry = { owner, controller: new AbortController(), job, bytes: work.bytes, forgetAt: Infinity }
    entries.set(job.id, entry)
    void runToEnd({ work, entry, executor, timeoutMs: limits.asyncTimeoutMs }).then((answer) => {
      const bytes = answer.body === undefined ? 0 : utf8Length(answer.body)
      entry.bytes = 0
      const kept = keptBytes(entries) + bytes <= limits.asyncBytes ? answer : work.failed(tooMuch())
      entry.bytes = kept === answer ? bytes : 0
      entry.forgetAt = performance.now() + KEPT_MS
      entry.job = { ...entry.job, answer: kept, expires: new Date(now().getTime() + KEPT_MS) }
    })
    return job
  }
  const sweep = sweeper(entries, isActive)
  return {
    start: (owner, work) => {
      purge()
      const swept = isSweepUseful({ entries, limits, owner, bytes: work.bytes }) ? sweep() : undefined
      return after(swept, () => begin(owner, work))
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

/** Tokens of one session of an issuer may belong to several clients and have different scopes, so those must agree, too. */
function mayAsk(asker: Principal | undefined, owner: Principal | undefined): boolean {
  if (asker === undefined || owner === undefined) return asker === owner
  const isSame = (['loginId', 'client', 'patient', 'project'] as const).every((name) => asker[name] === owner[name])
  return isSame && owner.scopes.every((scope) => asker.scopes.includes(scope))
}

/** Returns a function that removes the jobs of sessions that are not active. Calls at the same time share one run. */
function sweeper(entries: Entries, isActive: JobsOptions['isActive']): () => Promise<void> {
  let running: Promise<void> | undefined
  const sweep = async (): Promise<void> => {
    const loginIds = new Set(entries.values().flatMap(({ owner }) => (owner === undefined ? [] : [owner.loginId])))
    for (const loginId of loginIds) if (!(await isActive(loginId))) removeAll(entries, loginId)
  }
  return () => (running ??= sweep().finally(() => (running = undefined)))
}

function removeAll(entries: Entries, loginId: string): void {
  for (const [id, { owner, controller }] of entries) {
    if (owner?.loginId !== loginId) continue
    controller.abort()
    entries.delete(id)
  }
}

interface Room {
  readonly entries: Entries
  readonly limits: JobsOptions['limits']
  readonly owner: Principal | undefined
  /** Bytes of the new job. */
  readonly bytes: number
}

/** True if a new job would be refused or have to wait because of the jobs of others. */
function isSweepUseful(room: Room): boolean {
  if (isShareUsed(room)) return false
  const running = room.entries.values().reduce((count, { job }) => count + Number(job.answer === undefined), 0)
  return running >= room.limits.asyncRuns || !hasRoom(room)
}

function hasRoom({ entries, limits, bytes }: Room): boolean {
  return entries.size < limits.asyncResults && keptBytes(entries) + bytes < limits.asyncBytes
}

/** True if the owner has as many jobs as one session may have. */
function isShareUsed({ entries, limits, owner }: Room): boolean {
  if (owner === undefined) return false
  const ownCount = entries.values().reduce((count, entry) => count + Number(entry.owner?.loginId === owner.loginId), 0)
  return ownCount >= Math.max(1, Math.floor(limits.asyncResults / SHARE))
}

function keptBytes(entries: Entries): number {
  return entries.values().reduce((sum, { bytes }) => sum + bytes, 0)
}

function checkRoom({ executor, ...room }: Room & { readonly executor: Executor }): void {
  if (executor.isClosed()) throw new OperationError('unavailable', 'The server is shutting down.', { retryAfterSeconds: 5 })
  if (hasRoom(room) && !isShareUsed(room)) return
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
