import { OperationError, quoted } from '../../errors/index.js'
import type { ValueCounter } from '../bounds.js'
import { nearParameters, OF_OTHER_SERVERS, CONTROLS, INCLUDES, OF_EVERY_TYPE } from '../parameters/search-parameter.js'
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

/** The error for a parameter whose name cannot be read. @param hint What may be meant, with a blank before it. */
export function invalidName({ sent }: FilterScope, problem: string, hint = ''): OperationError {
  return new OperationError('search-invalid', `Search parameter ${quoted(sent)} ${problem}.${hint}`, { expression: [sent] })
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
  // What shapes the result is never chained to a reference.
  const isAlone = scope.depth === 0
  const others = isAlone ? [...OF_EVERY_TYPE, ...CONTROLS, ...INCLUDES] : OF_EVERY_TYPE
  const known = isAlone ? OF_OTHER_SERVERS.get(code) : undefined
  const hint = known ?? nearParameters(scope.options.parameters, { code, types: [scope.type], others })
  return invalidName(scope, `is not known: ${scope.type} has no ${quoted(code)}`, hint)
}
