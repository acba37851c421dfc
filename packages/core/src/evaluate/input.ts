import { OperationError, quoted } from '../errors/index.js'
import { stringAt } from '../json/index.js'
import type { OperationRequest } from '../operation/index.js'
import { parameterReader, type ParameterReader } from '../parameters/index.js'
import type { EvaluateInput } from './evaluate-measure.js'

/** Codes of R4, with the words that R5 and other guides have for the same. */
const REPORT_TYPES: ReadonlyMap<string, 'subject' | 'population'> = new Map([
  ['subject', 'subject'],
  ['individual', 'subject'],
  ['population', 'population'],
  ['summary', 'population'],
])

/**
 * Reads the inputs of `$evaluate-measure`.
 *
 * @throws {OperationError} `parameter-required`, `parameter-value`, `parameter-invalid`, and `parameter-unsupported` for an input of R4
 *   that is not offered.
 */
export function readEvaluate(request: OperationRequest): EvaluateInput {
  const reader = parameterReader(request.parameters)
  reader.refuse('practitioner', 'lastReceivedOn', 'parameters')
  const input = {
    periodStart: required(reader, 'periodStart'),
    periodEnd: required(reader, 'periodEnd'),
    measure: measureOf(reader, request.id),
    subject: subjectOf(reader),
    reportType: reportTypeOf(reader),
  }
  reader.refuseUnknown()
  return input
}

function required(reader: ParameterReader, name: string): string {
  const value = reader.text(name)
  if (value === undefined) throw new OperationError('parameter-required', `Parameter ${quoted(name)} is required.`, { expression: [name] })
  return value
}

function measureOf(reader: ParameterReader, id: string | undefined): string {
  if (id === undefined) return required(reader, 'measure')
  if (reader.text('measure') === undefined) return `Measure/${id}`
  throw new OperationError('parameter-invalid', "Parameter 'measure' cannot be given where the path names the Measure.", {
    expression: [reader.expressionOf('measure')],
  })
}

function subjectOf(reader: ParameterReader): string | undefined {
  const isReference = reader.all('subject')[0]?.type === 'Reference'
  return isReference ? (stringAt(reader.object('subject'), 'reference') ?? '') : reader.text('subject')
}

function reportTypeOf(reader: ParameterReader): EvaluateInput['reportType'] {
  const code = reader.text('reportType')
  if (code === undefined) return undefined
  const reportType = REPORT_TYPES.get(code)
  if (reportType !== undefined) return reportType
  const expression = [reader.expressionOf('reportType')]
  if (code === 'subject-list') {
    throw new OperationError('parameter-unsupported', "reportType 'subject-list' is not supported.", { expression })
  }
  throw new OperationError('parameter-value', `There is no reportType ${quoted(code)}.`, { expression })
}
