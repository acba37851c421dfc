import { OperationError, quoted } from '../errors/index.js'
import { stringAt } from '../json/index.js'
import type { OperationRequest } from '../operation/index.js'
import { parameterReader, type ParameterReader } from '../parameters/index.js'
import type { EvaluateMeasureInput } from './evaluate-measure.js'

/** The codes of R4, and equivalent ones of R5 and other guides. */
const REPORT_TYPES: ReadonlyMap<string, EvaluateMeasureInput['reportType']> = new Map([
  ['subject', 'subject'],
  ['individual', 'subject'],
  ['subject-list', 'subject-list'],
  ['population', 'population'],
  ['summary', 'population'],
])

/**
 * Reads the inputs of `$evaluate-measure`.
 *
 * @throws {OperationError} `parameter-required`, `parameter-value`, `parameter-invalid`, and `parameter-unsupported` for an input of R4
 *   that is not supported.
 */
export function readEvaluate(request: OperationRequest): EvaluateMeasureInput {
  const reader = parameterReader(request.parameters)
  reader.refuse('lastReceivedOn')
  const parameters = reader.resource('parameters')
  const input = {
    periodStart: required(reader, 'periodStart'),
    periodEnd: required(reader, 'periodEnd'),
    measure: measureOf(reader, request),
    subject: referenceAt(reader, 'subject'),
    practitioner: referenceAt(reader, 'practitioner'),
    reportType: reportTypeOf(reader),
    manifest: reader.text('manifest'),
    ...(parameters !== undefined && { parameters }),
    explain: reader.boolean('_explain'),
    coverage: reader.boolean('_coverage'),
    continue: reader.boolean('_continue'),
  }
  reader.refuseUnknown()
  return input
}

/** The value of a required parameter. @throws {OperationError} `parameter-required` */
export function required(reader: ParameterReader, name: string): string {
  const value = reader.text(name)
  if (value === undefined) throw new OperationError('parameter-required', `Parameter ${quoted(name)} is required.`, { expression: [name] })
  return value
}

/**
 * The Measure in the path, or in the parameter `measure`.
 *
 * @throws {OperationError} `parameter-required` without either, `parameter-invalid` with both; `body-structure` for a Measure in the body, which would be
 *   ignored.
 */
export function measureOf(reader: ParameterReader, { id, body }: Pick<OperationRequest, 'id' | 'body'>): string {
  if (body?.['resourceType'] === 'Measure')
    throw new OperationError('body-structure', 'The Measure must be a stored one: it is named, and cannot be the body.', {
      expression: ['resourceType'],
    })
  if (id === undefined) return required(reader, 'measure')
  if (reader.text('measure') === undefined) return `Measure/${id}`
  throw new OperationError('parameter-invalid', "Parameter 'measure' is not allowed when the path identifies the Measure.", {
    expression: [reader.expressionOf('measure')],
  })
}

/** A reference. R4 defines such parameters as strings; a Reference is accepted, too. */
export function referenceAt(reader: ParameterReader, name: string): string | undefined {
  const isReference = reader.all(name)[0]?.type === 'Reference'
  return isReference ? (stringAt(reader.object('Reference', name), 'reference') ?? '') : reader.text(name)
}

function reportTypeOf(reader: ParameterReader): EvaluateMeasureInput['reportType'] {
  const code = reader.text('reportType')
  if (code === undefined) return undefined
  const reportType = REPORT_TYPES.get(code)
  if (reportType !== undefined) return reportType
  throw new OperationError('parameter-value', `Unknown reportType ${quoted(code)}.`, {
    expression: [reader.expressionOf('reportType')],
  })
}
