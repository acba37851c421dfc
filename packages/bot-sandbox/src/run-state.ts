import type { BotLimits } from 'fhir-ops/execute'
import type { Failure, LogLine, Outcome } from './protocol.js'

/** Maximum time between two readings of the clock that counts as computing. Code that runs reads it more often, so any excess was used by other threads. */
const MOST_BETWEEN_LOOKS_MS = 3

/** Maximum number of calls of capabilities in one run, because each takes time of the host's thread. */
const MAX_CALLS = 1_000

/** State of a run, and its outcome. Only the first outcome counts. */
export interface RunState {
  readonly log: readonly LogLine[]
  /** How the run ended, `undefined` while it runs. */
  outcome(): Outcome | undefined
  end(outcome: Outcome): void
  /** Ends the run because the bot threw. */
  fail(thrown: string): void
  /** True if the run has ended or its time is up. */
  readonly isOver: () => boolean
  /** Milliseconds until its time is up. */
  leftMs(): number
  /** Duration of the run so far, in milliseconds. */
  elapsedMs(): number
  /** Reads the clock. Returns the computing time so far in milliseconds, without time in which the thread had no processor or waited. */
  computedMs(): number
  addLog(line: LogLine): void
  callMade(): void
  callAnswered(): void
  /** Number of calls that the host has not answered. */
  openCalls(): number
}

/** Starts the clock of a run. */
export function createRunState(limits: BotLimits): RunState {
  const begun = performance.now()
  const deadline = begun + limits.timeoutMs
  const log: LogLine[] = []
  let outcome: Outcome | undefined
  let logged = 0
  let made = 0
  let open = 0
  let looked = begun
  let computed = 0
  const end = (ended: Outcome) => {
    outcome ??= ended
  }
  const leftMs = () => deadline - performance.now()
  return {
    log,
    outcome: () => outcome,
    end,
    fail: (thrown) => end(failureOf(thrown, limits)),
    isOver() {
      if (outcome === undefined && leftMs() <= 0) end(timedOut(limits))
      return outcome !== undefined
    },
    leftMs,
    elapsedMs: () => performance.now() - begun,
    computedMs() {
      const now = performance.now()
      computed += Math.min(now - looked, MOST_BETWEEN_LOOKS_MS)
      looked = now
      return computed
    },
    addLog(line) {
      logged += Buffer.byteLength(line.text) + 1
      if (logged <= limits.logBytes) log.push(line)
      else end({ code: 'bot-too-costly', message: `The bot logged more than ${limits.logBytes} bytes.` })
    },
    callMade() {
      made += 1
      open += 1
      if (made > MAX_CALLS) end({ code: 'bot-too-costly', message: `The bot made more than ${MAX_CALLS} calls.` })
    },
    callAnswered: () => void (open -= 1),
    openCalls: () => open,
  }
}

/** The failure of a run whose time is up. */
export function timedOut({ timeoutMs }: BotLimits): Failure {
  return { code: 'bot-timeout', message: `The bot did not end within ${timeoutMs} ms.` }
}

function failureOf(thrown: string, { memoryBytes }: BotLimits): Failure {
  if (thrown.startsWith('InternalError: out of memory')) {
    return { code: 'bot-too-costly', message: `The bot used more than ${memoryBytes} bytes of memory.` }
  }
  return { code: 'bot-failed', message: 'The bot failed.', diagnostics: thrown.slice(0, 8_192) }
}
