import { OperationError } from '../errors/index.js'
import type { BotCapabilities, BotEvent, BotFunction } from './bot-function.js'
import type { BotTask } from './runtime.js'
import { logText } from './log-text.js'

/** One run of a function of the host. */
export interface HostRun extends Omit<BotTask, 'code'> {
  readonly run: BotFunction
  readonly event: BotEvent
  readonly capabilities: BotCapabilities
}

/**
 * Runs a function of the host. It cannot be stopped: when time is up, or the caller has gone, its `context.signal` is aborted and
 * nobody waits for it any more.
 *
 * @throws {OperationError} `bot-failed`, `bot-timeout` or `aborted`.
 */
export async function runHostBot({ run, event, capabilities, limits, log, signal }: HostRun): Promise<unknown> {
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
