import { childOf, descendentLeaf, descendentOf, generalizes, isA, isNotA } from './hierarchy-operators.js'
import { equals, exists, isIn, notIn, regex } from './value-operators.js'
import type { FilterOperator } from './concept-set.js'
import type { CodeSystemProvider, ConceptSet, Filter } from '../../code-system/index.js'
import { refusal } from '../messages.js'
import type { Work } from '../../work/index.js'
import { preparedProperty } from './filter-property.js'

/** Every filter operator by its code. @see https://hl7.org/fhir/R4/valueset-filter-operator.html */
const FILTER_OPERATORS: ReadonlyMap<string, FilterOperator> = new Map([
  ['=', equals],
  ['is-a', isA],
  ['descendent-of', descendentOf],
  ['is-not-a', isNotA],
  ['regex', regex],
  ['in', isIn],
  ['not-in', notIn],
  ['generalizes', generalizes],
  ['exists', exists],
  ['child-of', childOf],
  ['descendent-leaf', descendentLeaf],
])

/**
 * The concepts of a code system for which a filter holds.
 *
 * @param valueSet Name of the value set that has the filter, for the message.
 * @throws {OperationError} `not-supported` for an unknown operator, or a property that the code system does not have; `regex-unsupported`.
 */
export function* conceptsFor(provider: CodeSystemProvider, filter: Filter, valueSet: string): Work<ConceptSet> {
  const own = provider.filter?.(filter, provider)
  if (own !== undefined) return own
  yield* preparedProperty(provider, filter.property)
  const found = FILTER_OPERATORS.get(filter.op)?.(provider, filter)
  if (found !== undefined) return found
  throw refusal('FILTER_NOT_UNDERSTOOD', { ...filter, valueSet, system: provider.header.url })
}
