import { OperationError, quoted } from '../../errors/index.js'
import type { ValueCounter } from '../bounds.js'
import type { SearchOptions } from '../search-options.js'

/** What a parameter is about: a type, and the references that lead to it. */
export interface FilterScope {
  readonly type: string
  readonly options: SearchOptions
  /** References followed so far. */
  readonly depth: number
  /** Ways along these references: through every type that they do not name. */
  readonly ways: number
  /** Counts the values of all parameters. */
  readonly values: ValueCounter
  /** The whole name as it was sent. */
  readonly sent: string
}

/** The error for a parameter whose name cannot be read. */
export function invalidName({ sent }: FilterScope, problem: string): OperationError {
  return new OperationError('search-invalid', `Search parameter ${quoted(sent)} ${problem}.`, { expression: [sent] })
}

/** The error for what FHIR knows and this does not offer. */
export function unsupportedName({ sent }: FilterScope, problem: string): OperationError {
  return new OperationError('search-unsupported', `Search parameter ${quoted(sent)} ${problem}.`, { expression: [sent] })
}

/** Parameters of FHIR that are not offered. */
const UNSUPPORTED: ReadonlySet<string> = new Set(['_filter', '_query', '_type'])
const WORDS: ReadonlySet<string> = new Set(['_content', '_text'])

/** The error for a parameter that the type does not have, or that is not offered. */
export function unknownParameter(scope: FilterScope, code: string): OperationError {
  if (UNSUPPORTED.has(code)) return unsupportedName(scope, 'is not supported')
  if (WORDS.has(code)) return unsupportedName(scope, 'is not supported, as words are not indexed here (option words)')
  return invalidName(scope, `is not known: ${scope.type} has no ${quoted(code)}`)
}
