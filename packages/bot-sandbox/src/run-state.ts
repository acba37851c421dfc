import type { BotLimits } from 'fhir-ops/execute'
import type { Failure, LogLine, Outcome } from './protocol.js'

/** Of the time between two looks at the clock more than this was other threads': looks are closer while code runs. */
const MOST_BETWEEN_LOOKS_MS = 3

/** Most calls of capabilities in one run: each costs the host's thread. */
const MAX_CALLS = 1_000

/** How far a run has come, and why it ended. The first end counts. */
export interface RunState {
  readonly log: readonly LogLine[]
  /** How the run ended, `undefined` while it runs. */
  outcome(): Outcome | undefined
  end(outcome: Outcome): void
  /** Ends the run for what the bot threw. */
  fail(thrown: string): void
  /** True when the run has ended or its time is up. */
  readonly isOver: () => boolean
  /** Milliseconds until its time is up. */
  leftMs(): number
  /** Milliseconds that it has been going on. */
  elapsedMs(): number
  /** Looks at the clock. Milliseconds that the thread has computed by now, without those in which it had no processor or waited. */
  computedMs(): number
  addLog(line: LogLine): void
  callMade(): void
  callAnswered(): void
  /** Calls that the host has not answered. */
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
