import { isObject } from '../json/index.js'
import { equal1 } from './equality.js'
import type { Item, Items } from './item.js'
import { spend, type Run } from './code.js'
import { toSystem } from './to-system.js'

/** A set of items by equality (`=`); items whose equality is open count as different. */
export interface ItemSet {
  has(item: Item): boolean
  /** Adds the item unless an equal one is in the set; returns whether it was added. */
  add(item: Item): boolean
}

/** Makes a set; comparisons count as steps of the run. */
export function itemSet(run: Run, items: Items = []): ItemSet {
  const buckets = new Map<string, Item[]>()
  const convert = run.context.host?.convertUnit
  const has = (item: Item, bucket: readonly Item[] | undefined): boolean => {
    if (bucket === undefined) return false
    spend(run, bucket.length)
    return bucket.some((known) => equal1(known, item, convert) === true)
  }
  const set: ItemSet = {
    has: (item) => has(item, buckets.get(bucketOf(item))),
    add(item) {
      spend(run, 1)
      const key = bucketOf(item)
      const bucket = buckets.get(key)
      if (has(item, bucket)) return false
      if (bucket === undefined) buckets.set(key, [item])
      else bucket.push(item)
      return true
    },
  }
  for (const item of items) set.add(item)
  return set
}

/** The items without those that equal an earlier one. */
export function distinct(run: Run, items: Items): Items {
  if (items.length < 2) return items
  const set = itemSet(run)
  return items.filter((item) => set.add(item))
}

/** Equal items fall into the same bucket. */
function bucketOf(item: Item): string {
  const value = toSystem(item)
  if (typeof value === 'object')
    return value.kind === 'decimal' ? `number ${value.value}` : value.kind === 'quantity' ? 'quantity' : 'temporal'
  if (value !== undefined) return `${typeof value} ${value}`
  if (typeof item !== 'object' || item.kind !== 'node') return 'type'
  return isObject(item.value) ? `object ${Object.keys(item.value).sort().join(' ')} ${scalars(item.value)}` : 'extension'
}

function scalars(json: { readonly [name: string]: unknown }): string {
  return ['code', 'value', 'system', 'reference', 'url', 'linkId', 'id'].map((name) => scalar(json[name])).join(' ')
}

function scalar(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, 100) : ''
}
