import { OperationError, quoted } from '../errors/index.js'

const syntaxProblems = new WeakSet<OperationError>()

/** Creates the error for an expression that cannot be parsed; the message has the offset of the problem, from 0. */
export function syntaxProblem(reason: string, source: string, at: number): OperationError {
  const problem = new OperationError(
    'fhirpath-invalid',
    `The FHIRPath expression ${quoted(source)} cannot be read at offset ${at}: ${reason}.`,
  )
  syntaxProblems.add(problem)
  return problem
}

/** Whether an expression could not be parsed, or calls a function wrongly: it is the error of `syntaxProblem`. */
export function isSyntaxProblem(problem: OperationError): boolean {
  return syntaxProblems.has(problem)
}

/** Creates the error for an evaluation that must fail according to the specification. */
export function evaluationProblem(reason: string): OperationError {
  return new OperationError('fhirpath-invalid', `The FHIRPath expression cannot be evaluated: ${reason}.`)
}

/** Creates the error for an expression or evaluation that exceeds a limit. */
export function budgetProblem(limit: string): OperationError {
  return new OperationError('fhirpath-budget', `The FHIRPath evaluation exceeds the limit of ${limit}.`)
}
