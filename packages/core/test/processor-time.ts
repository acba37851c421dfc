/** The processor time that the work takes in this thread, in milliseconds: what other processes do does not count. */
export function processorTimeOf(work: () => void): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}
