import { OperationError, quoted } from '../errors/index.js'

/** The error for an expression that cannot be read; the message names the offset of the fault, from 0. */
export function syntaxProblem(reason: string, source: string, at: number): OperationError {
  return new OperationError('fhirpath-invalid', `The FHIRPath expression ${quoted(source)} cannot be read at offset ${at}: ${reason}.`)
}

/** The error for an evaluation that the specification ends with an error. */
export function evaluationProblem(reason: string): OperationError {
  return new OperationError('fhirpath-invalid', `The FHIRPath expression cannot be evaluated: ${reason}.`)
}

/** The error for an expression or evaluation beyond a limit. */
export function budgetProblem(limit: string): OperationError {
  return new OperationError('fhirpath-budget', `The FHIRPath evaluation exceeds the limit of ${limit}.`)
}
