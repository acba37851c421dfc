import { OperationError, quoted } from '../../errors/index.js'
import type { ValueCounter } from '../bounds.js'
import { nearParameters, OF_OTHER_SERVERS, CONTROLS, INCLUDES, OF_EVERY_TYPE } from '../parameters/search-parameter.js'
import type { SearchOptions } from '../search-options.js'

/** The context of a parameter: its type, and the references that lead to it. */
export interface FilterScope {
  readonly type: string
  readonly options: SearchOptions
  /** References followed so far. */
  readonly depth: number
  /** Number of paths along these references: through every type that they do not name. */
  readonly ways: number
  /** Counts the values of all parameters. */
  readonly values: ValueCounter
  /** The whole name as it was sent. */
  readonly sent: string
}

/** Creates the error for an invalid parameter name. @param hint Suggestion, with a blank before it. */
export function invalidName({ sent }: FilterScope, problem: string, hint = ''): OperationError {
  return new OperationError('search-invalid', `Search parameter ${quoted(sent)} ${problem}.${hint}`, { expression: [sent] })
}

/** Creates the error for a feature of FHIR that is not supported. */
export function unsupportedName({ sent }: FilterScope, problem: string): OperationError {
  return new OperationError('search-unsupported', `Search parameter ${quoted(sent)} ${problem}.`, { expression: [sent] })
}

/** Parameters of FHIR that are not supported. */
const UNSUPPORTED: ReadonlySet<string> = new Set(['_filter', '_query', '_type'])
const WORDS: ReadonlySet<string> = new Set(['_content', '_text'])

/** Creates the error for a parameter that the type does not have, or that is not supported. */
export function unknownParameter(scope: FilterScope, code: string): OperationError {
  if (UNSUPPORTED.has(code)) return unsupportedName(scope, 'is not supported')
  if (WORDS.has(code)) return unsupportedName(scope, 'is not supported, as words are not indexed here (option words)')
  // Parameters that shape the result cannot be chained to a reference.
  const isAlone = scope.depth === 0
  const others = isAlone ? [...OF_EVERY_TYPE, ...CONTROLS, ...INCLUDES] : OF_EVERY_TYPE
  const known = isAlone ? OF_OTHER_SERVERS.get(code) : undefined
  const hint = known ?? nearParameters(scope.options.parameters, { code, types: [scope.type], others })
  return invalidName(scope, `is not known: ${scope.type} has no ${quoted(code)}`, hint)
}
