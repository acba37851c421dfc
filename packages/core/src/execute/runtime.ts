import type { BotCapabilities, BotEvent } from './bot-function.js'

/** Bounds on one run of a bot. */
export interface BotLimits {
  /** Wall time in milliseconds. Default 10,000. A bot also waits no longer than this for its turn. */
  readonly timeoutMs: number
  /** Memory of the code's own objects, for stored bots. Default 64 MiB. */
  readonly memoryBytes: number
  /** What it returns, as UTF-8. Default 4 MiB. */
  readonly outputBytes: number
  /** What it logs, as UTF-8, for stored bots. Default 64 KiB. */
  readonly logBytes: number
  /** Its source, as UTF-8. Default 256 KiB. */
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

/** True when the text needs more bytes than that in UTF-8. */
export function exceedsBytes(text: string, limit: number): boolean {
  if (text.length * 3 <= limit) return false
  return text.length > limit || new TextEncoder().encode(text).length > limit
}

/** One run of stored code. */
export interface BotTask {
  /** JavaScript source. */
  readonly code: string
  readonly event: BotEvent
  readonly capabilities: BotCapabilities
  readonly limits: BotLimits
  /** Takes what the code logs: `level` is `debug`, `info`, `warn` or `error`. */
  readonly log: (level: BotLogLevel, text: string) => void
  readonly signal?: AbortSignal | undefined
}

/** The severity of a line of the log, the least first. */
export type BotLogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Runs stored code apart from the host: nothing but the task's data goes in, nothing but data comes out. */
export interface BotRuntime {
  /** How many runs it does at once. */
  readonly concurrency: number
  /** How many more it takes at once, so that it goes from one to the next without a wait. Default 0. */
  readonly ahead?: number
  /**
   * @returns What the code's `handler` gave, rebuilt from data: a string, a JSON value, an `Hl7Message`, a `botResponse` or `undefined`.
   * @throws {OperationError} `bot-failed`, `bot-timeout` or `bot-too-costly`, with the bot's own message in `detail.diagnostics`;
   *   `aborted` when `signal` is.
   */
  run(task: BotTask): Promise<unknown>
  /** Ends its threads. */
  close(): Promise<void>
}
