import { calibration } from '../packages/bench/src/machine.js'

/** Starts to count the processor time of this thread: what other processes and threads do does not count. Returns a function for the milliseconds so far. */
export function processorClock(): () => number {
  const before = process.threadCpuUsage()
  return () => {
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1_000
  }
}

/** The processor time that the work takes in this thread, in milliseconds. */
export function processorTimeOf(work: () => void): number {
  const ms = processorClock()
  work()
  return ms()
}

/** What the fixed task of the bench takes on a machine for which limits of tests are meant, in milliseconds. */
const CALIBRATION_MS = 25

/**
 * Returns a time to compare with a limit. A time above the limit is what it would be on a machine for which the limit is meant: a task that takes as much longer on
 * a slower machine is measured too.
 */
export function comparableMs(ms: number, limit: number): number {
  return ms < limit ? ms : ms / Math.max(1, calibration() / CALIBRATION_MS)
}
