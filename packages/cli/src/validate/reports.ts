import type { Io } from '../io.js'
import { githubReport, junitReport } from './annotation-reports.js'
import { htmlReport } from './html-report.js'
import { jsonReport, sarifReport } from './machine-reports.js'
import type { Report } from './report.js'
import { textReport } from './text-report.js'

/** How findings are printed. A new format is a line here. */
export const REPORTS = {
  text: textReport,
  json: jsonReport,
  sarif: sarifReport,
  html: htmlReport,
  junit: junitReport,
  github: githubReport,
} as const satisfies Readonly<Record<string, (io: Io) => Report>>

/** The name of a format. */
export type ReportFormat = keyof typeof REPORTS
