/** Times of a repeated call, in microseconds. */
export interface Timing {
  readonly p50: number
  readonly p99: number
  readonly calls: number
}

const WARM_UP_MS = 500
const MEASURE_MS = 1_500

/**
 * Times a call repeatedly, one after the other, after a warm-up.
 *
 * @param least Minimum number of calls in the warm-up and after it, for calls whose first repetitions prepare later ones.
 */
export async function timed(call: () => unknown, least = 1): Promise<Timing> {
  await repeat(call, { ms: WARM_UP_MS, least })
  const taken = await repeat(call, { ms: MEASURE_MS, least })
  taken.sort((a, b) => a - b)
  const at = (share: number): number => (taken[Math.floor((taken.length - 1) * share)] ?? 0) * 1_000
  return { p50: at(0.5), p99: at(0.99), calls: taken.length }
}

interface Length {
  readonly ms: number
  readonly least: number
}

async function repeat(call: () => unknown, { ms, least }: Length): Promise<number[]> {
  const taken: number[] = []
  const end = performance.now() + ms
  for (let now = performance.now(); now < end || taken.length < least;) {
    await call()
    const then = performance.now()
    taken.push(then - now)
    now = then
  }
  return taken
}

/** The median; 0 if there are no figures. */
export function median(figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? 0
}

/** Bytes in use, buffers included; exact only with `--expose-gc`. */
export function heapBytes(): number {
  globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
