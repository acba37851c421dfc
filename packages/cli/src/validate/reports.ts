import { InvalidArgumentError, Option } from 'commander'
import { availableParallelism } from 'node:os'
import { type Io, counted } from '../io.js'
import { type Report, textReport, profileSummary, sourceLines, type Checked } from './report.js'
import { FINDING_KINDS, type Finding, toOperationOutcome } from 'fhir-ops/validate'
import { randomUUID } from 'node:crypto'
import { isAbsolute, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { FindingDefinition } from 'fhir-ops/internal/validate'
import type { ReportingDescriptor, Result, Run } from 'sarif'
import { version } from '../files.js'

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

/** Writes a page: a summary, then the findings of each file by kind, with the affected lines and a button for the fix. It loads and runs nothing. */
function htmlReport(io: Io): Report {
  const summary = profileSummary()
  const kinds = new Map<string, Shown[]>()
  const counts = { resources: 0, invalid: 0 }
  return {
    add: (checked) => {
      summary.add(checked)
      counts.resources++
      counts.invalid += Number(!checked.result.valid)
      for (const finding of checked.result.findings) {
        const shown = { finding, html: item(checked, finding) }
        const ofKind = kinds.get(finding.kind)
        if (ofKind === undefined) kinds.set(finding.kind, [shown])
        else ofKind.push(shown)
      }
    },
    end: () => {
      io.out(PAGE_HEAD)
      const { resources, invalid } = counts
      io.out(`<h1>Validation</h1>\n<p>${counted(resources, 'resource')}: ${resources - invalid} valid, ${invalid} invalid</p>`)
      io.out(tableOf(summary.lines()))
      for (const [kind, shown] of [...kinds].toSorted(([, a], [, b]) => rank(a) - rank(b) || b.length - a.length))
        io.out(section(kind, shown))
      io.out('</body></html>')
    },
  }
}

/** A finding as displayed on the page. */
interface Shown {
  readonly finding: Finding
  readonly html: string
}

const SEVERITIES: readonly Finding['severity'][] = ['fatal', 'error', 'warning', 'information']

function rank(shown: readonly Shown[]): number {
  return SEVERITIES.findIndex((severity) => shown.some(({ finding }) => finding.severity === severity))
}

const PAGE_HEAD = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Validation</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color-scheme: light dark }
pre { overflow-x: auto; padding: .5rem; background: color-mix(in srgb, currentcolor 8%, transparent) }
td, th { text-align: left; padding: 0 1rem 0 0 }
li { margin: 0 0 1rem }
.fatal, .error { border-left: .3rem solid #c00; padding-left: .6rem }
.warning { border-left: .3rem solid #b70; padding-left: .6rem }
.information { border-left: .3rem solid #06c; padding-left: .6rem }
details > summary { cursor: pointer; display: inline-block; border: 1px solid; border-radius: .3rem; padding: 0 .6rem }
</style></head><body>`

function section(kind: string, shown: readonly Shown[]): string {
  const advice = FINDING_KINDS[kind]?.advice ?? ''
  return `<h2>${html(kind)} (${shown.length})</h2>\n<p>${html(advice)}</p>\n<ol>\n${shown.map(({ html: text }) => text).join('\n')}\n</ol>`
}

function item({ source }: Checked, { severity, text, expression, hint, fix, line = source.line, column = 1 }: Finding): string {
  const lines = sourceLines(source, { line, column })
  return [
    `<li class="${severity}"><b>${severity}</b> <code>${html(`${source.file}:${line}:${column}`)}</code> ${expression === undefined ? '' : `at <code>${html(expression)}</code>`}`,
    `<br>${html(hint === undefined ? text : `${text} ${hint}`)}`,
    ...(lines.length === 0 ? [] : [`<pre>${html(lines.join('\n'))}</pre>`]),
    ...(fix === undefined ? [] : [`<details><summary>Fix</summary><pre>${html(JSON.stringify(fix, undefined, 2))}</pre></details>`]),
    '</li>',
  ].join('\n')
}

function tableOf([head, ...rows]: readonly string[]): string {
  if (head === undefined) return ''
  const row = (line: string, cell: string): string =>
    `<tr>${line
      .split(/ {2,}/)
      .map((text) => `<${cell}>${html(text)}</${cell}>`)
      .join('')}</tr>`
  return `<table>\n${row(head, 'th')}\n${rows.map((line) => row(line, 'td')).join('\n')}\n</table>`
}

const HTML_ENTITIES: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
])

/** Escapes a text. Control characters except tab and line break are replaced, so that content of resources is never anything but text. */
function html(text: string): string {
  return text.replaceAll(/[^\P{Cc}\t\n]/gu, ' ').replaceAll(/[&<>"']/g, (character) => HTML_ENTITIES.get(character) ?? '')
}

const FILE = 'http://hl7.org/fhir/StructureDefinition/operationoutcome-file'

/** Writes one OperationOutcome per line, as `$validate` returns it, with the resource's file as an extension. */
function jsonReport(io: Io): Report {
  return {
    add: ({ source, result }) => {
      const { resourceType, ...outcome } = toOperationOutcome(result, { id: randomUUID() })
      io.out(JSON.stringify({ resourceType, extension: [{ url: FILE, valueString: source.file }], ...outcome }))
    },
    end: () => {},
  }
}

const SARIF_HEAD =
  '{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":[{"columnKind":"utf16CodeUnits","results":[\n'

const LEVELS = { fatal: 'error', error: 'error', warning: 'warning', information: 'note' } as const

/**
 * Writes a SARIF 2.1.0 log of all findings, for code hosts and editors. A fix is the property `jsonPatch` of its result. Results are written as they
 * arrive, followed by the rules to which they refer, so memory does not grow with their number.
 *
 * @see https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
 */
function sarifReport(io: Io): Report {
  const kinds = new Set<string>()
  let before = SARIF_HEAD
  return {
    add: ({ source, result }) => {
      for (const finding of result.findings) {
        kinds.add(finding.kind)
        io.out(`${before}${JSON.stringify(resultOf(source, finding))}`)
        before = ','
      }
    },
    end: () => io.out(`${before === SARIF_HEAD ? SARIF_HEAD : ''}],"tool":${JSON.stringify(toolOf(kinds))}}]}`),
  }
}

function toolOf(kinds: ReadonlySet<string>): Run['tool'] {
  return { driver: { name: 'fhir-ops', version: version(), rules: [...kinds].map(ruleOf) } }
}

function ruleOf(kind: string): ReportingDescriptor {
  const { advice, severity = 'error' }: Partial<FindingDefinition> = FINDING_KINDS[kind] ?? {}
  return {
    id: kind,
    shortDescription: { text: advice ?? kind },
    defaultConfiguration: { level: LEVELS[severity] },
  }
}

function resultOf(source: Checked['source'], { kind, severity, text, expression, hint, fix, line, column }: Finding): Result {
  return {
    ruleId: kind,
    level: LEVELS[severity],
    message: { text: hint === undefined ? text : `${text} ${hint}` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriOf(source.file) },
          region: { startLine: line ?? source.line, ...(column !== undefined && { startColumn: column }) },
        },
        ...(expression !== undefined && { logicalLocations: [{ fullyQualifiedName: expression, kind: 'element' }] }),
      },
    ],
    ...(fix !== undefined && { properties: { jsonPatch: fix } }),
  }
}

function uriOf(file: string): string {
  return isAbsolute(file) ? pathToFileURL(file).href : file.split(sep).map(encodeURIComponent).join('/')
}

/** Writes test cases by file, one per resource, for tools that show test results. A resource with an error is a failed test; its other findings are output. */
function junitReport(io: Io): Report {
  const files = new Map<string, string[]>()
  const counts = { tests: 0, failures: 0 }
  return {
    add: (checked) => {
      const { file } = checked.source
      const cases = files.get(file)
      if (cases === undefined) files.set(file, [testCase(checked)])
      else cases.push(testCase(checked))
      counts.tests++
      counts.failures += Number(!checked.result.valid)
    },
    end: () => {
      const suites = [...files].map(([file, cases]) => suite(file, cases))
      io.out(
        `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="fhir-ops validate" tests="${counts.tests}" failures="${counts.failures}">`,
      )
      for (const text of suites) io.out(text)
      io.out('</testsuites>')
    },
  }
}

function suite(file: string, cases: readonly string[]): string {
  const failures = cases.filter((text) => text.includes('<failure ')).length
  return `  <testsuite name="${xml(file)}" tests="${cases.length}" failures="${failures}">\n${cases.join('\n')}\n  </testsuite>`
}

function testCase({ source, result }: Checked): string {
  const errors = result.findings.filter(isError)
  const others = result.findings.filter((finding) => !isError(finding))
  const failures = errors.map(
    (finding) => `      <failure type="${xml(finding.kind)}" message="${xml(finding.text)}">${xml(lineOf(finding, source.file))}</failure>`,
  )
  const output =
    others.length === 0 ? [] : [`      <system-out>${xml(others.map((finding) => lineOf(finding, source.file)).join('\n'))}</system-out>`]
  const inner = [...failures, ...output]
  const head = `    <testcase classname="${xml(source.file)}" name="${xml(`${source.place}:${source.line}`)}"`
  return inner.length === 0 ? `${head}/>` : `${head}>\n${inner.join('\n')}\n    </testcase>`
}

function isError({ severity }: Finding): boolean {
  return severity === 'error' || severity === 'fatal'
}

function lineOf({ severity, kind, text, expression = '', line = 1, column = 1 }: Finding, file: string): string {
  return `${file}:${line}:${column}: ${severity} at ${expression}: ${text} [${kind}]`
}

const XML_ENTITIES: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
])

/** Escapes a text; characters that XML 1.0 cannot contain are replaced. */
function xml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u0020-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replaceAll(/[&<>"]/g, (character) => XML_ENTITIES.get(character) ?? '')
}

const COMMANDS = { fatal: 'error', error: 'error', warning: 'warning', information: 'notice' } as const

/** Writes one workflow command per finding, which GitHub shows next to the line of the file. */
function githubReport(io: Io): Report {
  return {
    add: ({ source, result }) => {
      for (const finding of result.findings) io.out(annotation(source.file, source.line, finding))
    },
    end: () => {},
  }
}

function annotation(file: string, first: number, { severity, kind, text, expression, hint, line = first, column = 1 }: Finding): string {
  const properties = { file, line: String(line), col: String(column), title: expression === undefined ? kind : `${kind} at ${expression}` }
  const list = Object.entries(properties).map(([name, value]) => `${name}=${escaped(value).replaceAll(':', '%3A').replaceAll(',', '%2C')}`)
  return `::${COMMANDS[severity]} ${list.join(',')}::${escaped(hint === undefined ? text : `${text} ${hint}`)}`
}

/** Escapes a text, because a line break would start another command. */
function escaped(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}
