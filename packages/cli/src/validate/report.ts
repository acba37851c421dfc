import { FINDING_KINDS, type ValidateResult, type Finding } from 'fhir-ops/validate'
import { styleText } from 'node:util'
import type { Source } from '../load/sources.js'
import { table, counted, type Io } from '../io.js'

/** The result of validating a resource; lines are those of the file. */
export interface ResourceResult extends ValidateResult {
  /** Profiles that the resource claims; its type if it claims none, `unreadable` if it has no type. */
  readonly profiles: readonly string[]
}

/** A resource with its result. */
export interface Checked {
  readonly source: Source
  readonly result: ResourceResult
}

/** Prints results of validation. */
export interface Report {
  readonly add: (checked: Checked) => void
  /** Called after the last resource. */
  readonly end: () => void
}

const WIDTH = 100
const BEFORE = 50

/** Returns the line of the text at a place in its file, and a line with a caret below the place. Of a long line, only the part around the place. */
export function sourceLines({ text, line: first }: Source, { line, column }: { line: number; column: number }): readonly string[] {
  const whole = text.split('\n', line - first + 1)[line - first]
  if (whole === undefined) return []
  const start = whole.length <= WIDTH ? 0 : Math.max(0, column - 1 - BEFORE)
  const part = `${start > 0 ? '…' : ''}${whole.slice(start, start + WIDTH)}${whole.length > start + WIDTH ? '…' : ''}`
  const number = String(line).padStart(5)
  const caret = column - 1 - start + (start > 0 ? 1 : 0)
  return [`${number} | ${part}`, `${' '.repeat(number.length)} | ${' '.repeat(caret)}^`]
}

interface Tally {
  resources: number
  invalid: number
  errors: number
  warnings: number
}

/** Counts by profile: the profiles that resources claim, and the types of resources without any. */
interface ProfileSummary {
  readonly add: (checked: Checked) => void
  /** Returns a table by name; empty if there is only one profile or resource. */
  readonly lines: () => readonly string[]
}

/** Creates an empty summary. */
export function profileSummary(): ProfileSummary {
  const tallies = new Map<string, Tally>()
  return {
    add: ({ result: { valid, findings, profiles } }) => {
      for (const name of profiles) {
        const tally = tallies.get(name) ?? { resources: 0, invalid: 0, errors: 0, warnings: 0 }
        tally.resources++
        tally.invalid += Number(!valid)
        tally.errors += findings.filter(({ severity }) => severity === 'error' || severity === 'fatal').length
        tally.warnings += findings.filter(({ severity }) => severity === 'warning').length
        tallies.set(name, tally)
      }
    },
    lines: () => {
      if (tallies.size < 2) return []
      const rows = [...tallies].toSorted(([a], [b]) => (a < b ? -1 : 1))
      return table([
        ['profile', 'resources', 'invalid', 'errors', 'warnings'],
        ...rows.map(([name, { resources, invalid, errors, warnings }]) => [name, ...[resources, invalid, errors, warnings].map(String)]),
      ])
    },
  }
}

type Style = Parameters<typeof styleText>[0]
type Paint = (style: Style, text: string) => string

const STYLES: Readonly<Record<Finding['severity'], Style>> = { fatal: 'red', error: 'red', warning: 'yellow', information: 'blue' }

/** Prints each finding with its place, the affected line and advice; at the end the totals, by profile if there are several. */
export function textReport(io: Io): Report {
  const paint: Paint = (style, text) => (io.isTerminal ? styleText(style, text, { validateStream: false }) : text)
  const counts = { resources: 0, invalid: 0, errors: 0, warnings: 0 }
  const profiles = profileSummary()
  return {
    add: (checked) => {
      for (const finding of checked.result.findings) for (const line of linesOf(checked, finding, paint)) io.out(line)
      profiles.add(checked)
      counts.resources++
      counts.invalid += Number(!checked.result.valid)
      counts.errors += countOf(checked, /error|fatal/)
      counts.warnings += countOf(checked, /warning/)
    },
    end: () => {
      for (const line of profiles.lines()) io.err(line)
      io.err(summary(counts))
    },
  }
}

function linesOf({ source }: Checked, finding: Finding, paint: Paint): readonly string[] {
  const { kind, severity, text, expression, line = source.line, column = 1, fix } = finding
  const at = expression === undefined ? '' : ` at ${expression}`
  const help = finding.hint ?? FINDING_KINDS[kind]?.advice ?? ''
  return [
    `${paint('bold', `${visible(source.file)}:${line}:${column}`)}: ${paint(STYLES[severity], severity)}${at}: ${visible(text)} ${paint('dim', `[${kind}]`)}`,
    ...sourceLines(source, { line, column }).map((shown) => paint('dim', visible(shown))),
    `  ${paint('cyan', 'help')}: ${visible(help)}`,
    ...(fix === undefined ? [] : [`  ${paint('cyan', 'fix')}: ${visible(JSON.stringify(fix))}`]),
  ]
}

function summary({
  resources,
  invalid,
  errors,
  warnings,
}: {
  resources: number
  invalid: number
  errors: number
  warnings: number
}): string {
  const found = errors + warnings === 0 ? '' : ` (${counted(errors, 'error')}, ${counted(warnings, 'warning')})`
  return `${counted(resources, 'resource')} checked: ${resources - invalid} valid, ${invalid} invalid${found}`
}

function countOf({ result }: Checked, severities: RegExp): number {
  return result.findings.filter(({ severity }) => severities.test(severity)).length
}

/** Removes control characters, which a terminal would interpret. */
function visible(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ')
}
