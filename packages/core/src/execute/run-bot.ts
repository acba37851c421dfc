import type { Bots } from './bots.js'
import type { FoundBot } from './find-bot.js'
import { escapeControls, OperationError } from '../errors/index.js'
import type { BotCapabilities, BotEvent, BotFunction } from './bot-function.js'
import { exceedsBytes, type BotTask } from './runtime.js'

/**
 * Runs a bot when it is its turn, and returns its result.
 *
 * @throws {OperationError} as the bot's runtime; `not-supported` for stored code without one, `bot-too-costly` when the code is too long,
 *   `throttled` when too many bots wait.
 */
export function runBot(bot: FoundBot, bots: Bots, task: Omit<BotTask, 'code'>): Promise<unknown> {
  if ('run' in bot) return bots.hostLimiter.run(() => runHostBot({ ...task, run: bot.run }), task)
  const { runtime, limits } = bots
  if (runtime === undefined) throw new OperationError('not-supported', 'This server runs no stored bots.')
  if (exceedsBytes(bot.code, limits.sourceBytes))
    throw new OperationError('bot-too-costly', `The bot's source is longer than ${limits.sourceBytes} bytes.`)
  return bots.runtimeLimiter.run(() => runtime.run({ ...task, code: bot.code }), task)
}

/** One run of a function of the host. */
interface HostRun extends Omit<BotTask, 'code'> {
  readonly run: BotFunction
  readonly event: BotEvent
  readonly capabilities: BotCapabilities
}

/**
 * Runs a function of the host. It cannot be stopped: when the time limit is exceeded, or the caller disconnects, its `context.signal` is aborted and its
 * result is ignored.
 *
 * @throws {OperationError} `bot-failed`, `bot-timeout` or `aborted`.
 */
async function runHostBot({ run, event, capabilities, limits, log, signal }: HostRun): Promise<unknown> {
  if (signal?.aborted) throw aborted()
  const stop = new AbortController()
  const ended = Promise.withResolvers<never>()
  const end = (error: OperationError) => {
    ended.reject(error)
    stop.abort(error)
  }
  const onAbort = () => end(aborted())
  const timer = setTimeout(
    () => end(new OperationError('bot-timeout', `The bot did not end within ${limits.timeoutMs} ms.`)),
    limits.timeoutMs,
  )
  signal?.addEventListener('abort', onAbort)
  const context = { ...capabilities, log: (...values: readonly unknown[]) => log('info', logText(values)), signal: stop.signal }
  try {
    return await Promise.race([ended.promise, called(run, event, context)])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

function aborted(): OperationError {
  return new OperationError('aborted', 'The request was cancelled.')
}

async function called(run: BotFunction, ...args: Parameters<BotFunction>): Promise<unknown> {
  try {
    return await run(...args)
  } catch (error) {
    throw new OperationError('bot-failed', 'The bot failed.', { cause: error, diagnostics: logText([error]) })
  }
}

const MAX_LINE = 8_192

/** Creates a log line from a bot's values: texts as they are, other values as JSON, control characters escaped, at most 8,192 characters. */
export function logText(values: readonly unknown[]): string {
  const line = values.map((value) => (typeof value === 'string' ? value : jsonText(value))).join(' ')
  return escapeControls(line.slice(0, MAX_LINE).toWellFormed()).slice(0, MAX_LINE)
}

function jsonText(value: unknown): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return `[${typeof value}]`
  }
}
