import type { ValidateResult } from 'fhir-ops/validate'
import type { Io } from '../io.js'
import type { Source } from '../load/sources.js'
import { jsonReport } from './json-report.js'
import { sarifReport } from './sarif-report.js'
import { textReport } from './text-report.js'

/** A resource and what validation said about it; lines are those of the file. */
export interface Checked {
  readonly source: Source
  readonly result: ValidateResult
}

/** Tells what validation said. */
export interface Report {
  readonly add: (checked: Checked) => void
  /** After the last. */
  readonly end: () => void
}

/** The formats of `fhir-ops validate`. A new one is a file and a line here. */
export const REPORTS = {
  text: textReport,
  json: jsonReport,
  sarif: sarifReport,
} as const satisfies Readonly<Record<string, (io: Io) => Report>>

/** Name of a format. */
export type ReportFormat = keyof typeof REPORTS
