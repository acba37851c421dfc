import { OperationError } from 'fhir-ops/errors'
import { packageFileProblem, threadArguments } from 'fhir-ops/internal/work'
import { isObject } from 'fhir-ops/internal/json'
import type { BotCapabilities, BotTask } from 'fhir-ops/internal/execute'
import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads'
import { aborted, type BotRun, givenRuns, MOST_RUNS, type Given, type Workload } from './given-runs.js'
import {
  announceSent,
  codeSender,
  computedMs,
  sharedClaims,
  takeRunBack,
  type CallMessage,
  type Failure,
  type FromWorker,
  type ReplyMessage,
  type RunMessage,
  type ToWorker,
} from './protocol.js'
import { timedOut } from './run-state.js'

/** A thread that runs one bot after the other. */
export interface PooledWorker extends Workload {
  /** True if its first run loops, waits for calls, or blocks the engine; not if the thread only gets no processor, as others would not get one either. */
  isHeld(): boolean
  /** Assigns a run to it, after those that it has. */
  give(run: BotRun): void
  /** Takes back the first runs that have not begun, at most `most`. */
  takeBack(most: number): readonly BotRun[]
  /** Ends a run; also ends the thread if it has begun the run. */
  abort(run: BotRun): void
  /** Kills the thread if its current run has exceeded its time limit. */
  checkTime(): void
  /** Kills the thread. Resolves when it has ended. */
  close(): Promise<void>
}

/** Callbacks about a thread. */
interface WorkerOwner {
  /** A run has ended: the thread has room for another. */
  readonly onEnd: () => void
  /** The thread has ended without beginning these runs. */
  readonly onGone: (worker: PooledWorker, unbegun: readonly BotRun[]) => void
}

/** The thread ends a run itself when its time is up. If the engine is blocked, the host kills the thread this much later. */
const GRACE_MS = 150

/** A run that computes or waits for calls longer than this holds its thread. Another thread starts in addition, which takes some 50 ms of processor time. */
const HELD_MS = 250
/** A run that takes longer than this holds its thread, whatever it does: during one call of the engine it reports nothing. */
const BLOCKED_MS = 2_000

const BROKEN: Failure = { code: 'bot-failed', message: 'The bot broke its runtime.' }

/** Starts a worker. */
export function startWorker({ onEnd, onGone }: WorkerOwner): PooledWorker {
  const claims = sharedClaims(MOST_RUNS)
  const runs = givenRuns(claims, () => thread.unref())
  const leave = (): void => {
    if (thread.isEnded()) return
    void thread.end()
    onGone(self, runs.asked())
  }
  /** Ends the thread and its current run, unless that has ended. Nobody has observed a run that it has begun since: the next thread gets it. */
  const kill = (run: Given, outcome: Failure): void => {
    thread.receiveAll()
    if (!runs.all().includes(run)) return
    runs.remove(run)
    run.asked.end({ outcome, log: [] })
    leave()
  }
  const onMessage = (message: FromWorker): void => {
    if (message.type === 'ready') return runs.start()
    const run = runs.find((one) => one.run === message.run)
    if (run === undefined) return
    if (message.type === 'call') return calls.answer(message, run.asked.task)
    runs.remove(run)
    run.asked.end(message)
    return message.isReusable ? onEnd() : leave()
  }
  const onExit = (cause: unknown): void => {
    thread.receiveAll()
    const [first] = runs.all()
    if (runs.isStarted() && first !== undefined && !takeRunBack(claims, first)) kill(first, BROKEN)
    if (!runs.isStarted()) for (const asked of runs.takeBack(MOST_RUNS)) asked.fail(notStarted(cause))
    leave()
  }
  const thread = startThread(claims, { onMessage, onExit })
  const calls = answeredCalls(thread)
  const self: PooledWorker = {
    ...runs.workload,
    isHeld: () => runs.workload.busyMs() >= (calls.areOpen() || computedMs(claims) >= HELD_MS ? HELD_MS : BLOCKED_MS),
    give(asked) {
      thread.ref()
      const { run, slot } = runs.add(asked)
      thread.send({ type: 'run', run, slot, ...asked.work })
    },
    takeBack: (most) => runs.takeBack(most),
    abort(asked) {
      const run = runs.find((one) => one.asked === asked)
      if (run === undefined) return
      asked.fail(aborted())
      return takeRunBack(claims, run) ? runs.remove(run) : kill(run, BROKEN)
    },
    checkTime() {
      const late = runs.overdue(GRACE_MS)
      if (late !== undefined) kill(late, timedOut(late.asked.task.limits))
    },
    async close() {
      leave()
      await thread.end()
    },
  }
  return self
}

/** The error of runs for which no thread starts. */
export function notStarted(cause?: unknown): OperationError {
  const message = packageFileProblem(cause, '@fhir-ops/bot-sandbox') ?? 'The runtime of bots does not start.'
  return new OperationError('unavailable', message, { cause })
}

/** Calls of a thread's runs that the host has not answered. */
interface AnsweredCalls {
  areOpen(): boolean
  answer(call: CallMessage, by: Pick<BotTask, 'capabilities'>): void
}

function answeredCalls({ send }: Pick<Thread, 'send'>): AnsweredCalls {
  let open = 0
  return {
    areOpen: () => open > 0,
    answer(call, { capabilities }) {
      open += 1
      void answered(call, capabilities).then((reply) => {
        open -= 1
        send(reply)
      })
    },
  }
}

/** Calls a granted method. The bot sees only errors of this library; others are hidden from it. */
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

/** A thread, and the port for its messages. */
interface Thread {
  /** Sends a message and wakes the thread. Does nothing if the thread was ended. */
  send(message: RunMessage | ReplyMessage): void
  /** Delivers all messages of the thread immediately. */
  receiveAll(): void
  /** Keeps the process alive until `unref`. */
  ref(): void
  unref(): void
  isEnded(): boolean
  /** Kills the thread. Resolves when it has ended. */
  end(): Promise<void>
}

/** Callbacks about a thread. */
interface ThreadOwner {
  readonly onMessage: (message: FromWorker) => void
  /** The thread has ended by itself. @param cause Its error, if any. */
  readonly onExit: (cause: unknown) => void
}

/** Starts a thread that gets nothing of the process but shared memory and a port: no environment, no arguments, no standard streams. */
function startThread(claims: Int32Array, { onMessage, onExit }: ThreadOwner): Thread {
  const { port1: port, port2 } = new MessageChannel()
  const worker = newWorker(port2, claims)
  const sentCode = codeSender()
  let isEnded = false
  let cause: unknown
  port.on('message', onMessage)
  // An idle thread does not keep the process alive.
  port.unref()
  worker.unref()
  worker.on('error', (error) => {
    cause = error
  })
  worker.on('exit', () => {
    if (!isEnded) onExit(cause)
  })
  return {
    send(message) {
      if (isEnded) return
      const sent: ToWorker = message.type === 'run' ? { ...message, code: sentCode(message.code) } : message
      port.postMessage(sent)
      announceSent(claims)
    },
    receiveAll() {
      for (let next = receiveMessageOnPort(port); next !== undefined && !isEnded; next = receiveMessageOnPort(port)) onMessage(next.message)
    },
    ref: () => port.ref(),
    unref: () => port.unref(),
    isEnded: () => isEnded,
    async end() {
      isEnded = true
      port.close()
      await worker.terminate()
    },
  }
}

function newWorker(port: MessagePort, claims: Int32Array): Worker {
  return new Worker(new URL('../dist/worker.js', import.meta.url), {
    workerData: { port, claims },
    transferList: [port],
    env: {},
    argv: [],
    execArgv: threadArguments(process, import.meta.url),
    stdin: true,
    stdout: true,
    stderr: true,
    // V8 ends a process that may not have the 512 MB of addresses that it would reserve for the code of a thread (`ulimit -v`).
    resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 4, codeRangeSizeMb: 64, stackSizeMb: 4 },
  })
}
