import { OperationError } from 'fhir-ops/errors'
import { isObject } from 'fhir-ops/internal/json'
import type { BotCapabilities, BotTask } from 'fhir-ops/internal/execute'
import { Worker } from 'node:worker_threads'
import type { CallMessage, DoneMessage, Failure, FromWorker, ReplyMessage, ToWorker } from './protocol.js'
import { timedOut } from './run-state.js'
import { grantsOf, writeEvent } from './wire.js'

/** A thread that runs one bot at a time. */
export interface PooledWorker {
  /** Resolves how the run ended; a thread that does not answer in time is killed. @throws {OperationError} `aborted`. */
  run(task: BotTask): Promise<Pick<DoneMessage, 'outcome' | 'log'>>
  /** False when the thread has ended or been killed. */
  isAlive(): boolean
  close(): Promise<void>
}

/** The thread ends a run itself when its time is up; what holds even the engine is killed this much later. */
const GRACE_MS = 150

const BROKEN: Failure = { code: 'bot-failed', message: 'The bot broke its runtime.' }

/** Starts a thread that has nothing of the process but its own memory: no environment, no arguments, no standard streams. */
export async function startWorker(): Promise<PooledWorker> {
  const worker = new Worker(new URL('../dist/worker.js', import.meta.url), {
    env: {},
    argv: [],
    execArgv: [],
    stdin: true,
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
  })
  let alive = true
  let runs = 0
  const kill = async () => {
    alive = false
    await worker.terminate()
  }
  worker.on('error', () => {})
  worker.on('exit', () => (alive = false))
  await started(worker)
  // An idle thread keeps no process alive.
  worker.unref()
  return {
    run: (task) => ran({ worker, kill, id: ++runs }, task),
    isAlive: () => alive,
    close: kill,
  }
}

function started(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    const onExit = () => reject(new OperationError('unavailable', 'The runtime of bots does not start.'))
    worker.once('exit', onExit)
    worker.once('message', () => {
      worker.off('exit', onExit)
      resolve()
    })
  })
}

interface ThreadRun {
  readonly worker: Worker
  readonly kill: () => Promise<void>
  /** Number of the run. */
  readonly id: number
}

async function ran({ worker, kill, id }: ThreadRun, task: BotTask): Promise<Pick<DoneMessage, 'outcome' | 'log'>> {
  const { code, event, capabilities, limits, signal } = task
  if (signal?.aborted) throw aborted()
  const ended = Promise.withResolvers<Pick<DoneMessage, 'outcome' | 'log'>>()
  const killAnd = (end: () => void) => {
    void kill()
    end()
  }
  const post = (message: ToWorker) => worker.postMessage(message)
  const onMessage = (message: FromWorker) => {
    if (message.type === 'ready' || message.run !== id) return
    if (message.type === 'call') return void answered(message, capabilities).then(post)
    if (message.isReusable) ended.resolve(message)
    else killAnd(() => ended.resolve(message))
  }
  const onExit = () => ended.resolve({ outcome: BROKEN, log: [] })
  const onAbort = () => killAnd(() => ended.reject(aborted()))
  const timer = setTimeout(() => killAnd(() => ended.resolve({ outcome: timedOut(limits), log: [] })), limits.timeoutMs + GRACE_MS)
  worker.on('message', onMessage)
  worker.on('exit', onExit)
  signal?.addEventListener('abort', onAbort)
  worker.ref()
  try {
    post({ type: 'run', run: id, code, event: writeEvent(event), grants: grantsOf(capabilities), limits })
    return await ended.promise
  } finally {
    clearTimeout(timer)
    worker.unref()
    worker.off('message', onMessage)
    worker.off('exit', onExit)
    signal?.removeEventListener('abort', onAbort)
  }
}

function aborted(): OperationError {
  return new OperationError('aborted', 'The request was cancelled.')
}

/** Calls a method that was granted; of other errors than our own, the bot learns nothing. */
async function answered({ run, call, method, args }: CallMessage, capabilities: BotCapabilities): Promise<ReplyMessage> {
  try {
    const result = await invoked(method, JSON.parse(args), capabilities)
    return { type: 'reply', run, call, ok: true, text: JSON.stringify(result) ?? '' }
  } catch (error) {
    const { code, message } = error instanceof OperationError ? error : { code: 'unforeseen', message: 'The call failed.' }
    return { type: 'reply', run, call, ok: false, text: JSON.stringify({ code, message }) }
  }
}

async function invoked(name: string, args: unknown, capabilities: BotCapabilities): Promise<unknown> {
  const [capability = '', method = ''] = name.split('.')
  const granted = new Map<string, unknown>(Object.entries(capabilities)).get(capability)
  const callable = isObject(granted) && Object.hasOwn(granted, method) ? granted[method] : undefined
  if (typeof callable !== 'function' || !Array.isArray(args)) throw new OperationError('not-supported', 'The bot was not granted that.')
  return Reflect.apply(callable, granted, args)
}
