import { utf8Length } from '../text/index.js'
import type { BotCapabilities, BotEvent } from './bot-function.js'

/** Limits of one run of a bot. */
export interface BotLimits {
  /** Elapsed time in milliseconds. Default 10,000. A bot also waits no longer than this for its turn. */
  readonly timeoutMs: number
  /** Memory of the code's own objects, for stored bots. Default 64 MiB. */
  readonly memoryBytes: number
  /** Size of the result, in bytes of UTF-8. Default 4 MiB. */
  readonly outputBytes: number
  /** Size of the log, in bytes of UTF-8, for stored bots. Default 64 KiB. */
  readonly logBytes: number
  /** Size of the source, in bytes of UTF-8. Default 256 KiB. */
  readonly sourceBytes: number
}

/** The default limits of bots. */
export const DEFAULT_BOT_LIMITS: BotLimits = {
  timeoutMs: 10_000,
  memoryBytes: 64 * 1024 * 1024,
  outputBytes: 4 * 1024 * 1024,
  logBytes: 64 * 1024,
  sourceBytes: 256 * 1024,
}

/** True when a text has more bytes in UTF-8 than the limit. */
export function exceedsBytes(text: string, limit: number): boolean {
  if (text.length * 3 <= limit) return false
  return text.length > limit || utf8Length(text) > limit
}

/** One run of stored code. */
export interface BotTask {
  /** JavaScript source. */
  readonly code: string
  readonly event: BotEvent
  /** JSON text of `event.input`, if it is long; `event.input` is then parsed each time that it is read. */
  readonly inputText?: string | undefined
  readonly capabilities: BotCapabilities
  readonly limits: BotLimits
  /** Receives the lines that the code logs. */
  readonly log: (level: BotLogLevel, text: string) => void
  readonly signal?: AbortSignal | undefined
}

/** The severity of a line of the log, from the lowest. */
export type BotLogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Runs stored code isolated from the host: only the task's data goes in, and only data comes out. */
export interface BotRuntime {
  /** Number of runs at the same time. */
  readonly concurrency: number
  /** Number of further runs that it accepts, so that it goes from one to the next without a wait. Default 0. */
  readonly ahead?: number
  /**
   * @returns The result of the code's `handler`, rebuilt from data: a string, a JSON value, an `Hl7Message`, a `botResponse` or `undefined`.
   * @throws {OperationError} `bot-failed`, `bot-timeout` or `bot-too-costly`, with the bot's own message in `detail.diagnostics`;
   *   `aborted` when `signal` is.
   */
  run(task: BotTask): Promise<unknown>
  /** Ends its threads. */
  close(): Promise<void>
}
