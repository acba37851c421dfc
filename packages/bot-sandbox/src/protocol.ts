import type { BotLimits } from 'fhir-ops/execute'
import type { BotLogLevel } from 'fhir-ops/internal/execute'

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

/** Code that is sent to a thread. Its text is sent only with the first of its runs, because a long text takes longer to send than to run. */
interface SentCode {
  readonly number: number
  readonly text?: string
  /** Codes that the thread may drop: they will be sent with their text again. */
  readonly forgotten: readonly number[]
}

/** Maximum number of characters of all remembered codes, unless one alone is longer. */
const MOST_CHARACTERS = 2 * 1024 * 1024

/** Creates the host's side of the codes of one thread. The thread must receive all its results, in the same order. */
export function codeSender(): (code: string) => SentCode {
  const known = new Map<string, number>()
  let characters = 0
  let last = 0
  return (code) => {
    const number = known.get(code)
    if (number !== undefined) return { number, forgotten: [] }
    last += 1
    characters += code.length
    const forgotten: number[] = []
    for (const [oldest, itsNumber] of known) {
      if (characters <= MOST_CHARACTERS) break
      known.delete(oldest)
      characters -= oldest.length
      forgotten.push(itsNumber)
    }
    known.set(code, last)
    return { number: last, text: code, forgotten }
  }
}

/** Creates the thread's side, which returns the text of a code. @throws {Error} if the text was not sent. */
export function codeReceiver(): (sent: SentCode) => string {
  const texts = new Map<number, string>()
  return ({ number, text, forgotten }) => {
    for (const one of forgotten) texts.delete(one)
    if (text !== undefined) texts.set(number, text)
    const code = texts.get(number)
    if (code === undefined) throw new Error('The code of a run was not sent.')
    return code
  }
}

// Memory shared by host and thread: the number of messages that the host has sent, on which a thread sleeps; the computing time of the thread; the run whose
// code it has begun; and a slot for each run that it was given.
const SENT = 0
const COMPUTED = 1
const BEGUN = 2
const FIRST_SLOT = 3

/** A run as its thread knows it. */
export interface Ticket {
  /** Greater than 0; unique among all runs of the thread. */
  readonly run: number
  /** Unique among the runs that the thread has at the same time. */
  readonly slot: number
}

/** Creates the memory that a host shares with one thread. */
export function sharedClaims(slots: number): Int32Array {
  return new Int32Array(new SharedArrayBuffer((FIRST_SLOT + slots) * Int32Array.BYTES_PER_ELEMENT))
}

/** Offers a run to the thread, before it is sent. */
export function offerRun(claims: Int32Array, { run, slot }: Ticket): void {
  Atomics.store(claims, FIRST_SLOT + slot, run)
}

/** Withdraws an offer. False if the thread has begun the run. */
export function takeRunBack(claims: Int32Array, { run, slot }: Ticket): boolean {
  return Atomics.compareExchange(claims, FIRST_SLOT + slot, run, 0) === run
}

/** Claims a run for the thread. False if the offer was withdrawn. */
export function claimRun(claims: Int32Array, { run, slot }: Ticket): boolean {
  return Atomics.compareExchange(claims, FIRST_SLOT + slot, run, -run) === run
}

/** Reports to the host that the code of the run begins, because everything that it needs is ready. */
export function tellBegun(claims: Int32Array, { run }: Pick<Ticket, 'run'>): void {
  Atomics.store(claims, BEGUN, run)
}

/** Whether the thread has begun the code of the run. */
export function hasBegun(claims: Int32Array, { run }: Pick<Ticket, 'run'>): boolean {
  return Atomics.load(claims, BEGUN) === run
}

/** Reports to the host the computing time of the current run in milliseconds. */
export function tellComputed(claims: Int32Array, ms: number): void {
  Atomics.store(claims, COMPUTED, ms)
}

/** The last reported computing time of the current run in milliseconds. */
export function computedMs(claims: Int32Array): number {
  return Atomics.load(claims, COMPUTED)
}

/** Wakes the thread, if it sleeps. */
export function announceSent(claims: Int32Array): void {
  Atomics.add(claims, SENT, 1)
  Atomics.notify(claims, SENT)
}

/** Number of messages that the host has sent. */
export function sentCount(claims: Int32Array): number {
  return Atomics.load(claims, SENT)
}

/** Sleeps until the host has sent more messages than `seen`, at most `ms` milliseconds. */
export function sleepUntilSent(claims: Int32Array, seen: number, ms: number): void {
  Atomics.wait(claims, SENT, seen, ms)
}
