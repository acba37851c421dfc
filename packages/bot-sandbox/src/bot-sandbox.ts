import { OperationError } from 'fhir-ops/errors'
import { DEFAULT_BOT_LIMITS, type BotEvent, type BotRuntime } from 'fhir-ops/execute'
import { createPace, createScheduler, type Pace } from 'fhir-ops/internal/context'
import type { BotTask } from 'fhir-ops/internal/execute'
import { checkOptions, inputShape, type InputShape } from 'fhir-ops/internal/input'
import { availableParallelism } from 'node:os'
import type { Ended } from './given-runs.js'
import { createPool } from './pool.js'
import type { Failure } from './protocol.js'
import { readAnswer } from './wire.js'

/** Options of `openBotSandbox`. */
export interface BotSandboxOptions {
  /**
   * Maximum number of threads, each of which runs one bot at a time. More threads than cores run only while bots loop or wait for calls. Default 8. On
   * Linux they have a lower priority than the other threads of the process.
   */
  readonly workers?: number
}

/** A runtime for stored bots that can also check code without running it. */
export interface BotSandbox extends BotRuntime {
  /**
   * Compiles code without running any of it.
   *
   * @throws {OperationError} `bot-failed` for a syntax error; its text and position (`at bot.js:1:9`) are in `detail.diagnostics`.
   */
  check(code: string): Promise<void>
}

const MOST_WORKERS = 8

const SHAPE: InputShape = inputShape<BotSandboxOptions>({
  workers: { words: 'a whole number, 1 or more', is: (count) => Number.isSafeInteger(count) && Number(count) >= 1 },
})

/**
 * Opens a runtime for stored bots: JavaScript in QuickJS compiled to WebAssembly, in a few worker threads. The code has no network, no files, no host
 * objects and no other modules; only JSON text goes in and out. After a run the whole memory of the engine is restored, so that every run begins
 * in the same realm, with its own random numbers. A thread starts with the first run that needs it, and is replaced after a run that reached a
 * limit, broke the engine or made its memory grow. A thread is assigned a few runs in advance; another thread takes over those that it does not begin.
 * Every run is refused with `not-supported` in a process without WebAssembly (`node --jitless`) or without the right to start threads (`node --permission`).
 *
 * @throws {TypeError} for an option that is unknown or of another type.
 */
export function openBotSandbox(options: BotSandboxOptions = {}): BotSandbox {
  checkOptions('openBotSandbox', SHAPE, options)
  const concurrency = options.workers ?? MOST_WORKERS
  const scheduler = createScheduler()
  const pool = createPool({ usual: Math.min(availableParallelism(), concurrency), most: concurrency })
  return {
    concurrency,
    ahead: pool.ahead,
    run: async (task) => {
      checkProcess()
      return answerOf(task, await pool.run(task), createPace({ scheduler, signal: task.signal }))
    },
    check: async (code) => {
      checkProcess()
      const task = { code, event: NO_EVENT, capabilities: {}, limits: DEFAULT_BOT_LIMITS, log: () => {} }
      const { outcome } = await pool.run(task, 'compile')
      if (!('head' in outcome)) throw failed(outcome)
    },
    close: pool.close,
  }
}

/** @throws {OperationError} `not-supported` where Node was started so that it runs no bot. */
function checkProcess(): void {
  if (typeof WebAssembly === 'undefined')
    throw new OperationError('not-supported', 'Stored bots run in WebAssembly, which this process does not have (node --jitless).')
  if (process.permission?.has('worker') === false)
    throw new OperationError(
      'not-supported',
      'Stored bots run in threads, which this process may not start (node --allow-worker permits it).',
    )
}

async function answerOf(task: BotTask, { outcome, log }: Ended, pace: Pace): Promise<unknown> {
  for (const { level, text } of log) task.log(level, text)
  if ('head' in outcome) return await readAnswer(outcome, pace)
  throw failed(outcome)
}

function failed({ code, message, diagnostics }: Failure): OperationError {
  return new OperationError(code, message, diagnostics === undefined ? {} : { diagnostics })
}

const NO_EVENT: BotEvent = { input: undefined, contentType: '', method: 'POST', query: {}, headers: {}, bot: { id: '' }, requestId: '' }
