// Random resources and queries, alike for every adapter.
import fc from 'fast-check'
import type { Comparison, Condition, IndexEntry, ScanQuery, SearchQuery, SortKey } from '../src/storage/index.js'

/** A put or a deletion of a resource with these entries. */
export interface Step {
  readonly op: 'put' | 'delete'
  readonly type: string
  readonly id: string
  readonly entries: readonly IndexEntry[]
}

const TYPES = ['Patient', 'Group'] as const
const TEXTS = ['', 'a', 'ab', 'b', 'é', '%', 'p1', 'p2'] as const
const NUMBERS = [-1, 0, 1, 1.5, 2] as const

const text = fc.constantFrom(...TEXTS)
const number = fc.constantFrom(...NUMBERS)
const type = fc.constantFrom(...TYPES)
const param = fc.constantFrom('p', 'q', 'r')
const id = fc.constantFrom('p1', 'p2', 'p3', 'P1', 'p-1', 'p.1')

const entry: fc.Arbitrary<IndexEntry> = fc.oneof(
  fc.record({ param, system: type, value: id }),
  fc.record({ param, low: number, high: number }),
  fc.record(
    { param, system: fc.constantFrom('Patient', 'Group', 'a'), value: text, text, low: number, high: number },
    { requiredKeys: ['param'] },
  ),
)

const comparison: fc.Arbitrary<Comparison> = fc.oneof(
  fc.record({
    field: fc.constantFrom('system', 'value', 'text'),
    op: fc.constantFrom('eq', 'prefix', 'contains', 'suffix'),
    operand: text,
  }),
  fc.record({ field: fc.constantFrom('system', 'value', 'text'), op: fc.constant('in'), operands: fc.array(text, { maxLength: 3 }) }),
  fc.record({ field: fc.constantFrom('low', 'high'), op: fc.constantFrom('eq', 'lt', 'le', 'gt', 'ge'), operand: number }),
  fc.record({ field: fc.constantFrom('system', 'value', 'text', 'low', 'high'), op: fc.constant('absent') }),
)

/** What identifiers, codes and references ask for. */
const exact: fc.Arbitrary<Condition> = fc.record({
  kind: fc.constant('entry'),
  param,
  all: fc.oneof(
    fc.tuple(fc.record({ field: fc.constant('value'), op: fc.constant('eq'), operand: fc.constantFrom(...TEXTS) })),
    fc.tuple(
      fc.record({ field: fc.constant('system'), op: fc.constant('eq'), operand: type }),
      fc.record({ field: fc.constant('value'), op: fc.constant('eq'), operand: id }),
    ),
  ),
})

const { condition } = fc.letrec<{ condition: Condition }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 3 },
    fc.record({ kind: fc.constant('entry'), param, all: fc.array(comparison, { maxLength: 3 }) }),
    fc.record({ kind: fc.constant('entry'), param, all: fc.tuple(comparison) }),
    exact,
    fc.record({ kind: fc.constant('and'), conditions: fc.array(fc.oneof(exact, tie('condition')), { minLength: 1, maxLength: 3 }) }),
    fc.record({ kind: fc.constant('id'), ids: fc.array(id, { maxLength: 3 }) }),
    fc.record({ kind: fc.constant('lastUpdated'), from: fc.nat(20), to: fc.nat(20) }, { requiredKeys: ['kind'] }),
    fc.record({ kind: fc.constantFrom('and', 'or'), conditions: fc.array(tie('condition'), { maxLength: 3 }) }),
    fc.record({ kind: fc.constant('not'), condition: tie('condition') }),
    fc.record({ kind: fc.constantFrom('refersTo', 'referredBy'), param, query: fc.record({ type, where: tie('condition') }) }),
  ),
}))

const sortKey: fc.Arbitrary<SortKey> = fc.record({
  param,
  field: fc.constantFrom('value', 'text', 'low', 'high', 'lastUpdated', 'id'),
  descending: fc.boolean(),
})

/** A query over few types, parameters and values, so that it often finds something. */
export const query: fc.Arbitrary<SearchQuery> = fc.record({
  type,
  where: condition,
  sort: fc.array(sortKey, { maxLength: 2 }),
  limit: fc.integer({ min: 1, max: 4 }),
})

/** A scan of the same. */
export const scan: fc.Arbitrary<ScanQuery> = fc.record({
  type,
  where: condition,
  referring: fc.array(fc.record({ type, where: condition, params: fc.uniqueArray(param, { maxLength: 2 }) }), { maxLength: 2 }),
  limit: fc.integer({ min: 1, max: 4 }),
})

/** What a write does to one resource. */
export const step: fc.Arbitrary<Step> = fc.record({
  op: fc.constantFrom('put', 'put', 'put', 'delete'),
  type,
  id,
  entries: fc.array(entry, { maxLength: 5 }),
})
