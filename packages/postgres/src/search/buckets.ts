import { addBit, emptyBits, firstWhere, hasBit, type Bits } from 'fhir-ops/internal/bits'

/**
 * The resources of a type in the order of their ids, cut into buckets of neighbours, with sets of these resources. Of the ids, only the first of each
 * bucket is kept. A set has the same words for each bucket: bit `i` stands for the `i`-th resource of the bucket.
 */
export interface Buckets {
  /** Number of resources, deleted ones included. */
  readonly size: number
  /** Number of buckets. */
  readonly count: number
  /** True without sets. */
  readonly isEmpty: boolean
  /** Memory usage in bytes. */
  readonly bytes: number
  /** Marks the bucket of a resource as out of date, in all sets. */
  touch(id: string): void
  /** Returns the sets with these keys; `undefined` for those that are not kept. */
  set(key: string): Bits | undefined
  /** Returns the keys of the sets with more than so many buckets out of date. */
  outdatedSets(most: number): readonly string[]
  /** Returns these buckets, in any order. */
  outdated(keys: readonly string[]): readonly Bucket[]
  /** Replaces the content of buckets that `outdated` returned last, none left out. */
  refresh(contents: readonly BucketContent[]): void
  /** Adds a set. No bucket may be out of date in its order. @param members Bit `i` stands for the `i`-th resource of the type. */
  add(key: string, members: Bits): void
  /** Drops a set. */
  drop(key: string): void
}

/** A bucket: the ids from `from` up to but not including `to`. */
export interface Bucket {
  readonly index: number
  readonly from: string
  readonly to: string
}

/** What a bucket contains now. */
export interface BucketContent {
  readonly index: number
  readonly size: number
  /** All ids in order, if there are more than `MOST` of them. */
  readonly ids?: readonly string[]
  /** For each set that was asked for, by key, `1` for a member and `0` for another resource, in the order of ids. */
  readonly members: ReadonlyMap<string, string>
}

/** Number of resources in a new bucket. */
export const NEW = 32
/** Maximum number of resources in a bucket; then it is divided. */
export const MOST = 64

const WORDS = MOST / 32
/** Memory of the first id of a bucket, in bytes. */
const EDGE_BYTES = 64
/** Follows every id. */
const END = '~'

/** A set, and the buckets in which it is out of date. */
interface KeptSet {
  words: Bits
  outdated: Set<number>
}

/** First id and size of each bucket, and the buckets whose resources may be others. */
interface Order {
  starts: readonly string[]
  sizes: Uint8Array<ArrayBuffer>
  outdated: Set<number>
}

/** @param edges Every `NEW`-th id of the type, from the first on. @param size Number of resources. */
export function createBuckets(edges: readonly string[], size: number): Buckets {
  // Ids before the first belong to the first bucket.
  const starts = ['', ...edges.slice(1)]
  const sizes = new Uint8Array(starts.length).fill(NEW)
  sizes[starts.length - 1] = size - NEW * (starts.length - 1)
  const order: Order = { starts, sizes, outdated: new Set() }
  const sets = new Map<string, KeptSet>()
  const outdatedIn = (keys: readonly string[]): ReadonlySet<number> =>
    new Set([order, ...keys.flatMap((key) => sets.get(key) ?? [])].flatMap(({ outdated }) => [...outdated]))
  return {
    get size() {
      return order.sizes.reduce((sum, one) => sum + one, 0)
    },
    get count() {
      return order.starts.length
    },
    get isEmpty() {
      return sets.size === 0
    },
    get bytes() {
      return order.starts.length * (EDGE_BYTES + sets.size * WORDS * Uint32Array.BYTES_PER_ELEMENT)
    },
    touch(id) {
      const index = firstWhere(order.starts.length, (at) => (order.starts[at] ?? '') > id) - 1
      for (const { outdated } of [order, ...sets.values()]) outdated.add(index)
    },
    set: (key) => sets.get(key)?.words,
    outdatedSets: (most) => [...sets].filter(([, { outdated }]) => outdated.size > most).map(([key]) => key),
    outdated: (keys) =>
      [...outdatedIn(keys)].map((index) => ({ index, from: order.starts[index] ?? '', to: order.starts[index + 1] ?? END })),
    refresh(contents) {
      // From the last on: dividing a bucket moves those behind it.
      for (const content of contents.toSorted((a, b) => b.index - a.index)) refreshBucket(order, sets, content)
    },
    add(key, members) {
      const words = emptyBits(order.starts.length * MOST)
      let rank = 0
      for (const [index, count] of order.sizes.entries()) {
        for (let at = 0; at < count; at++) if (hasBit(members, rank + at)) addBit(words, index * MOST + at)
        rank += count
      }
      sets.set(key, { words, outdated: new Set() })
    },
    drop: (key) => void sets.delete(key),
  }
}

function refreshBucket(order: Order, sets: ReadonlyMap<string, KeptSet>, { index, size, ids, members }: BucketContent): void {
  order.outdated.delete(index)
  if (ids === undefined) order.sizes[index] = size
  else divide(order, sets, { index, ids })
  const step = ids === undefined ? MOST : NEW
  for (const [key, bits] of members) {
    const set = sets.get(key)
    for (let at = 0; set !== undefined && (at === 0 || at < size); at += step) putMembers(set, index + at / step, bits.slice(at, at + step))
  }
}

/** Divides a bucket, which is then out of date in all sets. */
function divide(
  order: Order,
  sets: ReadonlyMap<string, KeptSet>,
  { index, ids }: { readonly index: number; readonly ids: readonly string[] },
): void {
  const added = ids.filter((_, place) => place > 0 && place % NEW === 0)
  const moved = (outdated: ReadonlySet<number>): Set<number> => new Set([...outdated].map((at) => (at > index ? at + added.length : at)))
  order.starts = [...order.starts.slice(0, index + 1), ...added, ...order.starts.slice(index + 1)]
  order.sizes = withRoom(order.sizes, index + 1, added.length)
  order.outdated = moved(order.outdated)
  const pieces = Array.from({ length: added.length + 1 }, (_, piece) => index + piece)
  for (const [piece, at] of pieces.entries()) order.sizes[at] = Math.min(NEW, ids.length - piece * NEW)
  for (const set of sets.values()) {
    set.words = withRoom(set.words, (index + 1) * WORDS, added.length * WORDS)
    set.outdated = new Set([...moved(set.outdated), ...pieces])
  }
}

function putMembers(set: KeptSet, index: number, members: string): void {
  set.words.fill(0, index * WORDS, (index + 1) * WORDS)
  for (let at = 0; at < members.length; at++) if (members[at] === '1') addBit(set.words, index * MOST + at)
  set.outdated.delete(index)
}

/** Returns a copy with so many zeros inserted. */
function withRoom<T extends Uint8Array<ArrayBuffer> | Bits>(list: T, at: number, more: number): T
function withRoom(list: Uint8Array<ArrayBuffer> | Bits, at: number, more: number): Uint8Array<ArrayBuffer> | Bits {
  const longer = list instanceof Uint8Array ? new Uint8Array(list.length + more) : new Uint32Array(list.length + more)
  longer.set(list.subarray(0, at))
  longer.set(list.subarray(at), at + more)
  return longer
}
