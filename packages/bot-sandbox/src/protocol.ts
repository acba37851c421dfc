import type { BotLimits } from 'fhir-ops/execute'
import type { BotLogLevel } from 'fhir-ops/internal/execute'
import type { Ticket } from './claims.js'
import type { SentCode } from './sent-codes.js'

/** One run of a worker. */
export interface RunMessage extends Ticket {
  readonly type: 'run'
  readonly code: string
  /** If true, the code is only compiled, not run. */
  readonly isOnlyCompiled: boolean
  /** JSON text of a `WireEvent`, in pieces. */
  readonly event: readonly string[]
  /** The methods granted to the bot by the name of their capability. */
  readonly grants: Grants
  readonly limits: BotLimits
}

/** A run as sent to the thread. */
interface SentRun extends Omit<RunMessage, 'code'> {
  readonly code: SentCode
}

/** Names of methods by the name of their capability. */
export type Grants = Readonly<Record<string, readonly string[]>>

/** The answer to a `CallMessage`: JSON text of the result, or of `{code, message}`. */
export interface ReplyMessage {
  readonly type: 'reply'
  readonly run: number
  readonly call: number
  readonly ok: boolean
  readonly text: string
}

/** The bot calls a method of a capability. */
export interface CallMessage {
  readonly type: 'call'
  readonly run: number
  readonly call: number
  /** For example `storage.read`. */
  readonly method: string
  /** JSON text of the list of arguments. */
  readonly args: string
}

/** The worker can take a run. */
interface ReadyMessage {
  readonly type: 'ready'
}

/** The run has ended. */
export interface DoneMessage {
  readonly type: 'done'
  readonly run: number
  readonly outcome: Outcome
  readonly log: readonly LogLine[]
  /** False if the run broke the engine, reached a limit or made its memory grow. Then the thread must end, which frees its memory. */
  readonly isReusable: boolean
}

/** A line of a bot's log. */
export interface LogLine {
  readonly level: BotLogLevel
  readonly text: string
}

/** The answer of a bot, or the reason why there is none. */
export type Outcome = Answered | Failure

/** An answer as it came out of the sandbox. */
export interface Answered {
  /** JSON text of a `WireHead`. */
  readonly head: string
  /** JSON text of the value; empty when there is none. */
  readonly value: string
}

/** The reason why a run has no answer. */
export interface Failure {
  readonly code: 'bot-failed' | 'bot-timeout' | 'bot-too-costly'
  readonly message: string
  /** The text of the bot's own error. */
  readonly diagnostics?: string
}

/** Messages from the host to a worker. */
export type ToWorker = SentRun | ReplyMessage
/** Messages from a worker to the host. */
export type FromWorker = ReadyMessage | CallMessage | DoneMessage

/** An event as data. */
export interface WireEvent {
  /** The event without an input that is not JSON. */
  readonly event: object
  /** Text of an HL7 message that is the input. */
  readonly hl7?: string
}
