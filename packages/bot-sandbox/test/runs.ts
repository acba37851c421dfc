import { readFileSync } from 'node:fs'
import { DEFAULT_BOT_LIMITS, type BotEvent, type BotLimits, type BotRuntime } from 'fhir-ops/execute'
import type { BotCapabilities } from 'fhir-ops/internal/execute'

/** Limits of a run that only an endless one reaches. */
export const LIMITS: BotLimits = { ...DEFAULT_BOT_LIMITS, timeoutMs: 100_000 }

/** What a bot is given by default. */
export const EVENT: BotEvent = {
  input: { a: 1 },
  contentType: 'application/json',
  method: 'POST',
  query: {},
  headers: {},
  bot: { id: 'b' },
  requestId: 'r',
}

/** The expression that the built prelude is loaded by. */
export function prelude(): string {
  const bundle = readFileSync(new URL('../dist/prelude/index.js', import.meta.url), 'utf8')
  return `(function () { ${bundle}; return prelude.furnish })()`
}

export interface RunOptions {
  readonly event?: Partial<BotEvent>
  readonly inputText?: string
  readonly limits?: Partial<BotLimits>
  readonly capabilities?: BotCapabilities
  readonly signal?: AbortSignal
  readonly log?: string[]
}

/** Runs code on an input of `{a: 1}`, by default without a time limit that a busy machine could reach; what it gives, or rejects with, is the test's matter. */
export function runCode(sandbox: Pick<BotRuntime, 'run'>, code: string, options: RunOptions = {}): Promise<unknown> {
  const { event, inputText, limits, capabilities = {}, signal, log = [] } = options
  return sandbox.run({
    code,
    event: { ...EVENT, ...event },
    inputText,
    capabilities,
    limits: { ...LIMITS, ...limits },
    log: (level, text) => void log.push(`${level} ${text}`),
    signal,
  })
}
