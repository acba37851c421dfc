import { styleText } from 'node:util'
import { FINDING_KINDS, type Finding } from 'fhir-ops/validate'
import { counted } from '../text.js'
import type { Io } from '../io.js'
import type { Checked, Report } from './report.js'
import type { Source } from '../load/sources.js'

type Style = Parameters<typeof styleText>[0]
type Paint = (style: Style, text: string) => string

const STYLES: Readonly<Record<Finding['severity'], Style>> = { fatal: 'red', error: 'red', warning: 'yellow', information: 'blue' }

/** Each finding with its place, the line of the file that it is about and what to do; at the end how many there were. */
export function textReport(io: Io): Report {
  const paint: Paint = (style, text) => (io.isTerminal ? styleText(style, text, { validateStream: false }) : text)
  const counts = { resources: 0, invalid: 0, errors: 0, warnings: 0 }
  return {
    add: (checked) => {
      for (const finding of checked.result.findings) for (const line of linesOf(checked, finding, paint)) io.out(line)
      counts.resources++
      counts.invalid += Number(!checked.result.valid)
      counts.errors += countOf(checked, /error|fatal/)
      counts.warnings += countOf(checked, /warning/)
    },
    end: () => io.err(summary(counts)),
  }
}

function linesOf({ source }: Checked, finding: Finding, paint: Paint): readonly string[] {
  const { kind, severity, text, expression, line = source.line, column = 1, fix } = finding
  const at = expression === undefined ? '' : ` at ${expression}`
  const help = finding.hint ?? FINDING_KINDS[kind]?.advice ?? ''
  return [
    `${paint('bold', `${source.file}:${line}:${column}`)}: ${paint(STYLES[severity], severity)}${at}: ${visible(text)} ${paint('dim', `[${kind}]`)}`,
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

/** Without control characters, which a terminal would obey. */
function visible(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ')
}

const WIDTH = 100
const BEFORE = 50

/** The line of the text that a place in a file is in, and a line with a caret below the place. Of a long line the part around it. */
function sourceLines({ text, line: first }: Source, { line, column }: { line: number; column: number }): readonly string[] {
  const whole = text.split('\n', line - first + 1)[line - first]
  if (whole === undefined) return []
  const start = whole.length <= WIDTH ? 0 : Math.max(0, column - 1 - BEFORE)
  const part = `${start > 0 ? '…' : ''}${whole.slice(start, start + WIDTH)}${whole.length > start + WIDTH ? '…' : ''}`
  const number = String(line).padStart(5)
  const caret = column - 1 - start + (start > 0 ? 1 : 0)
  return [`${number} | ${part}`, `${' '.repeat(number.length)} | ${' '.repeat(caret)}^`]
}
