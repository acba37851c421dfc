import { InvalidArgumentError, Option } from 'commander'
import { availableParallelism } from 'node:os'
import type { Io } from '../io.js'

import { htmlReport } from './html-report.js'
import { githubReport, jsonReport, junitReport, sarifReport } from './machine-reports.js'
import { type Report, textReport } from './report.js'

/** Name of a format. */
export type ReportFormat = 'text' | 'json' | 'sarif' | 'html' | 'junit' | 'github'

/** Output formats of findings. To add a format, add its name above and a line here. */
export const REPORTS: Readonly<Record<ReportFormat, (io: Io) => Report>> = {
  text: textReport,
  json: jsonReport,
  sarif: sarifReport,
  html: htmlReport,
  junit: junitReport,
  github: githubReport,
}

/** Severities that `--level` accepts. */
export const FINDING_LEVELS: readonly string[] = ['information', 'warning', 'error']

/** Time limit for a resource: nobody else waits here, but many resources may follow. */
export const RESOURCE_TIMEOUT_MS = 60_000

/** `--format`. */
export function formatOption(): Option {
  return new Option('--format <format>', 'output format of findings').choices(Object.keys(REPORTS)).default('text')
}

/** `--level`. */
export function levelOption(): Option {
  return new Option('--level <severity>', 'lowest severity to report').choices(FINDING_LEVELS).default('information')
}

/** `--threads`. */
export function threadsOption(): Option {
  return new Option('--threads <count>', 'threads for many resources; default: one for each core').argParser(threadCount)
}

function threadCount(text: string): string {
  if (!/^[1-9]\d?$/.test(text)) throw new InvalidArgumentError('It must be a number from 1 to 99.')
  return text
}

/** Returns the number of threads that `--threads` means. */
export function threadsOf(count: string | undefined): number {
  return Number(count ?? availableParallelism())
}
