import { isResourceId, type Condition } from '../../storage/index.js'
import { anyOf } from './conditions.js'
import { dateInterval } from '../values/date-interval.js'
import { invalidName, unsupportedName, type FilterScope } from './filter-scope.js'
import { type Interval, splitPrefix, type SearchPrefix } from '../values/interval.js'
import { invalidValue, type Ask } from '../kinds/kind.js'

/** `_id`, with the modifier `not`. */
export function parseId(scope: FilterScope, modifier: string | undefined, asks: readonly Ask[]): Condition {
  const wrong = asks.find(({ value }) => !isResourceId(value))
  if (wrong !== undefined) throw invalidValue(wrong, 'an id')
  const condition: Condition = { kind: 'id', ids: asks.map(({ value }) => value) }
  if (modifier === 'not') return { kind: 'not', condition }
  if (modifier !== undefined) throw invalidName(scope, `has the modifier '${modifier}', which _id does not take`)
  return condition
}

/**
 * `_list`: what is in one of these Lists, whatever it says of each item.
 *
 * @see https://hl7.org/fhir/R4/search.html#list
 */
export function parseList(scope: FilterScope, modifier: string | undefined, asks: readonly Ask[]): Condition {
  if (modifier !== undefined) throw invalidName(scope, `has the modifier '${modifier}', which _list does not take`)
  const ids = asks.map(({ value }) => value)
  if (ids.some((id) => id.startsWith('$'))) throw unsupportedName(scope, 'names a functional list, which is not supported')
  const wrong = asks.find(({ value }) => !isResourceId(value))
  if (wrong !== undefined) throw invalidValue(wrong, 'the id of a List')
  if (scope.options.parameters.find('List', ITEM) === undefined) throw unsupportedName(scope, `needs the parameter '${ITEM}' of List`)
  return { kind: 'referredBy', param: ITEM, query: { type: 'List', where: { kind: 'id', ids } } }
}

const ITEM = 'item'

/** `_lastUpdated` with prefixes. A resource was updated at one instant, so `sa` is `gt` and `eb` is `lt`. */
export function parseLastUpdated(scope: FilterScope, modifier: string | undefined, asks: readonly Ask[]): Condition {
  if (modifier !== undefined) throw invalidName(scope, `has the modifier '${modifier}', which _lastUpdated does not take`)
  return anyOf(asks.map(updatedCondition))
}

function updatedCondition(ask: Ask): Condition {
  const [prefix, text] = splitPrefix(ask.value)
  const interval = dateInterval(text)
  if (interval === undefined) throw invalidValue(ask, 'a date')
  return CONDITIONS[prefix](interval, Math.abs(ask.now - interval.low) / 10)
}

/** @param slack What `ap` allows on both sides, in milliseconds. */
type UpdatedCondition = (interval: Interval, slack: number) => Condition

const after: UpdatedCondition = ({ high }) => ({ kind: 'lastUpdated', from: high + 1 })
const before: UpdatedCondition = ({ low }) => ({ kind: 'lastUpdated', to: low - 1 })

const CONDITIONS: Readonly<Record<SearchPrefix, UpdatedCondition>> = {
  eq: ({ low, high }) => ({ kind: 'lastUpdated', from: low, to: high }),
  ne: ({ low, high }) => ({ kind: 'not', condition: { kind: 'lastUpdated', from: low, to: high } }),
  gt: after,
  sa: after,
  lt: before,
  eb: before,
  ge: ({ low }) => ({ kind: 'lastUpdated', from: low }),
  le: ({ high }) => ({ kind: 'lastUpdated', to: high }),
  ap: ({ low, high }, slack) => ({ kind: 'lastUpdated', from: low - slack, to: high + slack }),
}
