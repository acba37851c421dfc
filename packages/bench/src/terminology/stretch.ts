/** The duration of work in milliseconds, and the longest time in which nothing else could run. */
export interface Stretch {
  readonly ms: string
  readonly longest: string
  /** The longest time as processor time of the thread, which other processes do not lengthen. */
  readonly busy: string
}

/** Measures work that lets others run in between. */
export async function stretch(work: () => unknown): Promise<Stretch> {
  let last = performance.now()
  let used = process.threadCpuUsage()
  let longest = 0
  let busy = 0
  const note = (): void => {
    const now = performance.now()
    const { user, system } = process.threadCpuUsage(used)
    longest = Math.max(longest, now - last)
    busy = Math.max(busy, (user + system) / 1_000)
    last = now
    used = process.threadCpuUsage()
  }
  const beat = setInterval(note)
  const start = performance.now()
  await work()
  clearInterval(beat)
  note()
  return { ms: (performance.now() - start).toFixed(0), longest: longest.toFixed(0), busy: busy.toFixed(0) }
}
