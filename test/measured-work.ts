import { collectGarbage } from './garbage.js'
import { comparableMs, processorClock } from './processor-time.js'

/** What one request may take of the heap beside what is stored. */
export const MAX_HEAP: number = 320 * 1024 * 1024
/** Processor time of the thread without a gap: what others have to wait, at worst. */
export const MAX_STRETCH_MS = 150

/** What work took of the process. */
export interface Taken {
  /** Growth of the heap at its highest, garbage included as far as it is less than `MAX_HEAP`: a large process collects it later. */
  readonly heap: number
  readonly stretchMs: number
}

/** Does work to its end, and watches what it takes meanwhile. */
export async function measuredWork<T>(work: () => Promise<T>): Promise<Taken & { readonly result: T }> {
  const [before, peak] = [heapBytes(), { heap: 0, stretchMs: 0 }]
  let stretchMs = processorClock()
  const note = (): void => {
    peak.stretchMs = Math.max(peak.stretchMs, stretchMs())
    if (heapBytes() - before >= MAX_HEAP) collectGarbage()
    peak.heap = Math.max(peak.heap, heapBytes() - before)
    stretchMs = processorClock()
  }
  const beat = setInterval(note)
  try {
    const result = await work()
    note()
    return { result, ...peak }
  } finally {
    clearInterval(beat)
  }
}

const ROUNDS = 5

/** What a busy host adds to one round it does not add to each: work that took too long is measured some more times, and then as `comparableMs`. */
export async function leastStretch(work: () => Promise<unknown>, first: number): Promise<number> {
  let least = first
  for (let round = 1; round < ROUNDS && least >= MAX_STRETCH_MS; round++) least = Math.min(least, (await measuredWork(work)).stretchMs)
  return comparableMs(least, MAX_STRETCH_MS)
}

function heapBytes(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
