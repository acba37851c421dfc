import type { BotCapabilities, BotEvent } from './bot-function.js'
import type { BotLimits } from './limits.js'

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

/** How grave a line of the log is, the least first. */
export type BotLogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Runs stored code apart from the host: nothing but the task's data goes in, nothing but data comes out. */
export interface BotRuntime {
  /** How many runs it does at once. */
  readonly concurrency: number
  /**
   * @returns What the code's `handler` gave, rebuilt from data: a string, a JSON value, an `Hl7Message`, a `botResponse` or `undefined`.
   * @throws {OperationError} `bot-failed`, `bot-timeout` or `bot-too-costly`, with the bot's own message in `detail.diagnostics`;
   *   `aborted` when `signal` is.
   */
  run(task: BotTask): Promise<unknown>
  /** Ends its threads. */
  close(): Promise<void>
}
