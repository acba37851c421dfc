import { availableParallelism } from 'node:os'
import { InvalidArgumentError, Option } from 'commander'
import { REPORTS } from './reports.js'

/** The severities that can be asked for. */
export const FINDING_LEVELS: readonly string[] = ['information', 'warning', 'error']

/** For one resource. Nobody else waits here, and many resources may follow. */
export const RESOURCE_TIMEOUT_MS = 60_000

/** `--format`. */
export function formatOption(): Option {
  return new Option('--format <format>', 'output format of findings').choices(Object.keys(REPORTS)).default('text')
}

/** `--level`. */
export function levelOption(): Option {
  return new Option('--level <severity>', 'lowest severity to report').choices(FINDING_LEVELS).default('information')
}

/** `--jobs`. */
export function jobsOption(): Option {
  return new Option('--jobs <threads>', 'threads for many resources; default: one for each core').argParser(threadCount)
}

function threadCount(text: string): string {
  if (!/^[1-9]\d?$/.test(text)) throw new InvalidArgumentError('It must be a number from 1 to 99.')
  return text
}

/** How many threads `--jobs` means. */
export function threadsOf(jobs: string | undefined): number {
  return Number(jobs ?? availableParallelism())
}
