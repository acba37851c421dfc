import { DEFAULT_BOT_LIMITS, type BotCapabilities, type BotEvent, type BotLimits, type BotRuntime } from 'fhir-ops/execute'

export interface RunOptions {
  readonly event?: Partial<BotEvent>
  readonly limits?: Partial<BotLimits>
  readonly capabilities?: BotCapabilities
  readonly signal?: AbortSignal
  readonly log?: string[]
}

/** Runs code on an input of `{a: 1}`, by default without a time limit that a busy machine could reach; what it gives, or rejects with, is the test's matter. */
export function runCode(sandbox: BotRuntime, code: string, options: RunOptions = {}): Promise<unknown> {
  const { event, limits, capabilities = {}, signal, log = [] } = options
  return sandbox.run({
    code,
    event: {
      input: { a: 1 },
      contentType: 'application/json',
      method: 'POST',
      query: {},
      headers: {},
      bot: { id: 'b' },
      requestId: 'r',
      ...event,
    },
    capabilities,
    limits: { ...DEFAULT_BOT_LIMITS, timeoutMs: 100_000, ...limits },
    log: (level, text) => void log.push(`${level} ${text}`),
    signal,
  })
}
