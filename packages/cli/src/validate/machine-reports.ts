import { randomUUID } from 'node:crypto'
import { FINDING_KINDS, toOperationOutcome, type Finding } from 'fhir-ops/validate'
import type { FindingDefinition } from 'fhir-ops/internal/validate'
import type { Io } from '../io.js'
import type { Checked, Report } from './report.js'
import { isAbsolute, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ReportingDescriptor, Result, Run } from 'sarif'
import { version } from '../own-files.js'

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
