/** What a repeated call took, in microseconds. */
export interface Timing {
  readonly p50: number
  readonly p99: number
  readonly calls: number
}

const WARM_UP_MS = 500
const MEASURE_MS = 1_500

/** Times a call again and again, one after the other, after a warm-up. */
export async function timed(call: () => unknown): Promise<Timing> {
  await repeat(call, WARM_UP_MS)
  const taken = await repeat(call, MEASURE_MS)
  taken.sort((a, b) => a - b)
  const at = (share: number): number => (taken[Math.floor((taken.length - 1) * share)] ?? 0) * 1_000
  return { p50: at(0.5), p99: at(0.99), calls: taken.length }
}

async function repeat(call: () => unknown, forMs: number): Promise<number[]> {
  const taken: number[] = []
  const end = performance.now() + forMs
  for (let now = performance.now(); now < end;) {
    await call()
    const then = performance.now()
    taken.push(then - now)
    now = then
  }
  return taken
}

/** The middle one of some figures; 0 of none. */
export function median(figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? 0
}

/** Bytes in use, buffers included; exact only with `--expose-gc`. */
export function heapBytes(): number {
  globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
