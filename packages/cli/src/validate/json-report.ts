import { randomUUID } from 'node:crypto'
import { toOperationOutcome } from 'fhir-ops/validate'
import type { Io } from '../io.js'
import type { Report } from './report.js'

const FILE = 'http://hl7.org/fhir/StructureDefinition/operationoutcome-file'

/** One OperationOutcome a line, as `$validate` gives it, with the file of the resource as an extension. */
export function jsonReport(io: Io): Report {
  return {
    add: ({ source, result }) => {
      const { resourceType, ...outcome } = toOperationOutcome(result, { id: randomUUID() })
      io.out(JSON.stringify({ resourceType, extension: [{ url: FILE, valueString: source.file }], ...outcome }))
    },
    end: () => {},
  }
}
