/** How long work took in milliseconds, and the longest time in which nothing else ran meanwhile. */
export interface Stretch {
  readonly ms: string
  readonly longest: string
}

/** Watches over work that lets others run in between. */
export async function stretch(work: () => unknown): Promise<Stretch> {
  let last = performance.now()
  let longest = 0
  const note = (): void => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
  }
  const beat = setInterval(note)
  const start = performance.now()
  await work()
  clearInterval(beat)
  note()
  return { ms: (performance.now() - start).toFixed(0), longest: longest.toFixed(0) }
}

/** Bytes in use, buffers included; exact only with `--expose-gc`. */
export function heapBytes(): number {
  globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
