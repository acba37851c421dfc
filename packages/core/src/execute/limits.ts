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

/** The limits where a host sets no others. */
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
