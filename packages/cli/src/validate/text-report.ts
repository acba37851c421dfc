import { styleText } from 'node:util'
import { FINDING_KINDS, type Finding } from 'fhir-ops/validate'
import { counted, type Io } from '../io.js'
import { profileSummary, sourceLines, type Checked, type Report } from './report.js'

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

/** Removes control characters, which a terminal would interpret. */
function visible(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ')
}
