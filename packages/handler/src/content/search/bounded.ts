import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'

/** The text of a page of results. @throws {OperationError} `too-costly` when it is longer than answers may be. */
export function bounded(text: string, { limits }: Pick<OperationContext, 'limits'>): string {
  if (text.length <= limits.maxAnswerBytes) return text
  throw new OperationError('too-costly', 'The page of results is too large; ask for fewer with _count.')
}
