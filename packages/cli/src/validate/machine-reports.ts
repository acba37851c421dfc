import { randomUUID } from 'node:crypto'
import { isAbsolute, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { FINDING_KINDS, toOperationOutcome, type Finding } from 'fhir-ops/validate'
import type { FindingDefinition } from 'fhir-ops/internal/validate'
import type { ReportingDescriptor, Result, Run } from 'sarif'
import type { Io } from '../io.js'
import { version } from '../files.js'
import type { Checked, Report } from './report.js'

const FILE = 'http://hl7.org/fhir/StructureDefinition/operationoutcome-file'

/** Writes one OperationOutcome per line, as `$validate` returns it, with the resource's file as an extension. */
export function jsonReport(io: Io): Report {
  return {
    add: ({ source, result }) => {
      const { resourceType, ...outcome } = toOperationOutcome(result, { id: randomUUID() })
      io.out(JSON.stringify({ resourceType, extension: [{ url: FILE, valueString: source.file }], ...outcome }))
    },
    end: () => {},
  }
}

const HEAD =
  '{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":[{"columnKind":"utf16CodeUnits","results":[\n'

const LEVELS = { fatal: 'error', error: 'error', warning: 'warning', information: 'note' } as const

/**
 * Writes a SARIF 2.1.0 log of all findings, for code hosts and editors. A fix is the property `jsonPatch` of its result. Results are written as they
 * arrive, followed by the rules to which they refer, so memory does not grow with their number.
 *
 * @see https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
 */
export function sarifReport(io: Io): Report {
  const kinds = new Set<string>()
  let before = HEAD
  return {
    add: ({ source, result }) => {
      for (const finding of result.findings) {
        kinds.add(finding.kind)
        io.out(`${before}${JSON.stringify(resultOf(source, finding))}`)
        before = ','
      }
    },
    end: () => io.out(`${before === HEAD ? HEAD : ''}],"tool":${JSON.stringify(toolOf(kinds))}}]}`),
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
export function junitReport(io: Io): Report {
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

const ENTITIES: ReadonlyMap<string, string> = new Map([
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
    .replaceAll(/[&<>"]/g, (character) => ENTITIES.get(character) ?? '')
}

const COMMANDS = { fatal: 'error', error: 'error', warning: 'warning', information: 'notice' } as const

/** Writes one workflow command per finding, which GitHub shows next to the line of the file. */
export function githubReport(io: Io): Report {
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
