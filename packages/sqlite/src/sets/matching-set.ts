import { addBits, difference, emptyBits, intersection, type Bits } from 'fhir-ops/internal/bits'
import { testKey } from 'fhir-ops/internal/storage'
import { placesOf, type Condition, type SearchQuery } from 'fhir-ops/storage'
import type { SqliteDriver } from '../database/driver.js'
import type { IdOrder } from './id-order.js'
import type { KeptSets, Parts, Part, PartReferrers } from './kept-sets.js'
import type { Referrers } from './reference-column.js'

type Matching = Pick<SearchQuery, 'type' | 'where'>

interface Asked extends Matching {
  /** True if the same query is known to be repeated, so that its parts are cached from the first time on. */
  readonly isAskedAgain?: boolean
}

/** Returns the keys of the matches from cached parts, not to be modified; `undefined` if the cache is not sufficient. */
export function matchingSet(db: SqliteDriver, sets: KeptSets, query: Asked): Bits | undefined {
  const wanted = new Map<string, Part>()
  if (!collect(query, wanted) || wanted.size > MOST_PARTS) return undefined
  const parts = sets.parts(db, wanted, query.isAskedAgain)
  return parts && bitsWhere(parts, query)
}

/** Returns the order of a type's ids, if it is cached. */
export function idOrder(db: SqliteDriver, sets: KeptSets, type: string): IdOrder | undefined {
  const part: Part = { kind: 'order', type }
  const key = keyOf(part)
  return sets.parts(db, new Map([[key, part]]))?.order(key)
}

/** Restricts referring resources: the keys that meet all conditions with a set, and the other conditions, which are tested for each key. */
export interface Sieve {
  /** `undefined` if no condition has a set. */
  readonly set: Bits | undefined
  readonly others: readonly Condition[]
}

/**
 * Returns the references from resources that meet a condition, cached from the first time on; `undefined` if they need too much memory or time.
 *
 * @param sieveOf Called only if they are not cached.
 */
export function keptReferrers(
  db: SqliteDriver,
  sets: KeptSets,
  asked: Omit<PartReferrers, 'among' | 'kind' | 'others'>,
  sieveOf: () => Sieve,
): Referrers | undefined {
  const key = keyOfReferrers(asked)
  const known = sets.known(db, key)
  if (known?.kind === 'referrers') return known.referrers
  const { set: among, others } = sieveOf()
  if (among === undefined) return undefined
  return sets.parts(db, new Map([[key, { kind: 'referrers', ...asked, among, others }]]), true)?.referrers(key)
}

/** Maximum number of parts in a query: a query with many values is rarely repeated. */
const MOST_PARTS = 32

/** Collects the parts that answer a condition. @returns False if parts cannot answer it. */
function collect({ type, where }: Matching, wanted: Map<string, Part>): boolean {
  const add = (part: Part): boolean => wanted.set(keyOf(part), part).size > 0
  switch (where.kind) {
    case 'entry':
      return testKey(where.all) !== undefined && add({ kind: 'test', type, test: where })
    case 'and':
      if (where.conditions.length === 0) return add({ kind: 'type', type })
      return where.conditions.every((condition) => collect({ type, where: condition }, wanted))
    case 'or':
      return where.conditions.every((condition) => collect({ type, where: condition }, wanted))
    case 'not':
      return add({ kind: 'type', type }) && collect({ type, where: where.condition }, wanted)
    case 'refersTo':
      return placesOf(where.query.type).every(
        (place) => add(referencesOf(type, where.param, place)) && collect({ type: place, where: where.query.where }, wanted),
      )
    case 'referredBy':
      return add({ kind: 'type', type }) && add(referencesOf(where.query.type, where.param, type)) && collect(where.query, wanted)
    case 'id':
    case 'lastUpdated':
      return false
  }
}

function referencesOf(type: string, param: string, place: string): Part {
  return { kind: 'references', type, param, place }
}

function keyOf(part: Part): string {
  switch (part.kind) {
    case 'type':
      return `type ${part.type}`
    case 'test':
      return `test ${part.type} ${part.test.param} ${testKey(part.test.all) ?? ''}`
    case 'order':
      return `order ${part.type}`
    case 'references':
      return `references ${part.type} ${part.param} ${part.place}`
    case 'referrers':
      return keyOfReferrers(part)
  }
}

function keyOfReferrers({ to, type, params, where }: Pick<PartReferrers, 'params' | 'to' | 'type' | 'where'>): string {
  return `referrers ${to} ${JSON.stringify([type, params, where])}`
}

function bitsWhere(parts: Parts, { type, where }: Matching): Bits {
  switch (where.kind) {
    case 'entry':
      return parts.bits(keyOf({ kind: 'test', type, test: where }))
    case 'and':
      return bitsOfAll(parts, type, where.conditions)
    case 'or':
      return unionOf(where.conditions.map((condition) => bitsWhere(parts, { type, where: condition })))
    case 'not':
      return difference(bitsOfType(parts, type), bitsWhere(parts, { type, where: where.condition }))
    case 'refersTo':
      return bitsReferringTo(parts, type, where)
    case 'referredBy':
      return bitsReferredBy(parts, type, where)
    case 'id':
    case 'lastUpdated':
      throw new TypeError(`No set is kept for a condition on ${where.kind}.`)
  }
}

function bitsOfType(parts: Parts, type: string): Bits {
  return parts.bits(keyOf({ kind: 'type', type }))
}

/** Follows references last, only for the resources that remain. */
function bitsOfAll(parts: Parts, type: string, conditions: readonly Condition[]): Bits {
  const inOrder = conditions.toSorted((a, b) => Number(a.kind === 'refersTo') - Number(b.kind === 'refersTo'))
  return (
    inOrder.reduce<Bits | undefined>((bits, condition) => {
      if (bits === undefined) return bitsWhere(parts, { type, where: condition })
      if (condition.kind === 'refersTo') return bitsReferringTo(parts, type, condition, bits)
      return intersection(bits, bitsWhere(parts, { type, where: condition }))
    }, undefined) ?? bitsOfType(parts, type)
  )
}

function unionOf(sets: readonly Bits[]): Bits {
  const union = emptyBits(32 * Math.max(0, ...sets.map((set) => set.length)))
  for (const set of sets) addBits(union, set)
  return union
}

type RefersTo = Extract<Condition, { kind: 'refersTo' }>
type ReferredBy = Extract<Condition, { kind: 'referredBy' }>

function bitsReferringTo(parts: Parts, type: string, { param, query }: RefersTo, among?: Bits): Bits {
  return unionOf(
    placesOf(query.type).map((place) => {
      const targets = bitsWhere(parts, { type: place, where: query.where })
      return parts.column(keyOf(referencesOf(type, param, place))).sourcesOf(targets, among)
    }),
  )
}

/** Intersects with existing resources, because a column may still contain references to deleted ones. */
function bitsReferredBy(parts: Parts, type: string, { param, query }: ReferredBy): Bits {
  const found = parts.column(keyOf(referencesOf(query.type, param, type))).targetsOf(bitsWhere(parts, query))
  return intersection(bitsOfType(parts, type), found)
}
