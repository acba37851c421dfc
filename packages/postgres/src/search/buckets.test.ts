import { addBit, emptyBits, hasBit } from 'fhir-ops/internal/bits'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createBuckets, MOST, NEW, type Buckets } from './buckets.js'

const id = fc.oneof(
  fc.nat(300).map((n) => `r${String(n).padStart(3, '0')}`),
  fc.nat(300).map((n) => `s${n}`),
)
const changes = fc.array(fc.tuple(id, fc.constantFrom('gone', 'none', 'a', 'b', 'both')), { maxLength: 200 })

it('have each resource once and in order, whatever is added, changed and removed', () => {
  fc.assert(
    fc.property(changes, fc.array(fc.tuple(changes, fc.subarray(['a', 'b'])), { maxLength: 6 }), (start, rounds) => {
      const now = new Map<string, string>()
      apply(now, start)
      const ids = idsOf(now)
      const buckets = createBuckets(
        ids.filter((_, n) => n % NEW === 0),
        ids.length,
      )
      for (const key of ['a', 'b']) buckets.add(key, rankBits(now, key))
      for (const [changed, asked] of rounds) {
        apply(now, changed)
        for (const [changedId] of changed) buckets.touch(changedId)
        refresh(buckets, now, asked)
        expectSame(buckets, now, asked)
      }
      refresh(buckets, now, ['a', 'b'])
      buckets.add('c', rankBits(now, 'b'))
      expectSame(buckets, now, ['a', 'b'])
      expect(buckets.set('c')).toEqual(buckets.set('b'))
    }),
  )
})

it('know nothing of a set that was dropped', () => {
  const buckets = createBuckets(['a'], 1)
  expect(buckets.set('key')).toBeUndefined()
  buckets.add('key', emptyBits(1))
  const { bytes } = buckets
  expect([buckets.isEmpty, buckets.set('key')?.length]).toEqual([false, MOST / 32])
  buckets.touch('b')
  expect([buckets.outdatedSets(0), buckets.outdatedSets(1)]).toEqual([['key'], []])
  buckets.drop('key')
  expect([buckets.isEmpty, buckets.set('key')]).toEqual([true, undefined])
  expect(buckets.bytes).toBeLessThan(bytes)
})

function apply(now: Map<string, string>, changed: readonly (readonly [string, string])[]): void {
  for (const [changedId, state] of changed) {
    if (state === 'gone') now.delete(changedId)
    else now.set(changedId, state)
  }
}

function idsOf(now: ReadonlyMap<string, string>): readonly string[] {
  return [...now.keys()].toSorted()
}

function isMember(now: ReadonlyMap<string, string>, of: string, key: string): boolean {
  return now.get(of) === key || now.get(of) === 'both'
}

function rankBits(now: ReadonlyMap<string, string>, key: string): Uint32Array {
  const bits = emptyBits(now.size)
  idsOf(now).forEach((of, rank) => isMember(now, of, key) && addBit(bits, rank))
  return bits
}

/** As the database would be read. */
function refresh(buckets: Buckets, now: ReadonlyMap<string, string>, keys: readonly string[]): void {
  buckets.refresh(
    buckets.outdated(keys).map(({ index, from, to }) => {
      const ids = idsOf(now).filter((of) => of >= from && of < to)
      const members = new Map(keys.map((key) => [key, ids.map((of) => (isMember(now, of, key) ? '1' : '0')).join('')]))
      return { index, size: ids.length, members, ...(ids.length > MOST && { ids }) }
    }),
  )
}

/** The resources of a set, as the number of members in each stretch of ids. */
function expectSame(buckets: Buckets, now: ReadonlyMap<string, string>, keys: readonly string[]): void {
  expect(buckets.size).toBe(now.size)
  expect([buckets.outdated(keys), buckets.outdatedSets(0).filter((key) => keys.includes(key))]).toEqual([[], []])
  const all = idsOf(now)
  // Of a copy, since each bucket that is asked for is out of date then.
  for (const key of keys) {
    const bits = buckets.set(key) ?? expect.fail()
    const members = Array.from({ length: bits.length * 32 }, (_, at) => at).filter((at) => hasBit(bits, at))
    expect(members).toHaveLength(all.filter((of) => isMember(now, of, key)).length)
  }
  if (keys.length < 2) return
  const [a, b] = keys.map((key) => buckets.set(key) ?? expect.fail())
  const both = Array.from({ length: (a?.length ?? 0) * 32 }, (_, at) => at).filter(
    (at) => hasBit(a ?? emptyBits(0), at) && hasBit(b ?? emptyBits(0), at),
  )
  expect(both).toHaveLength(all.filter((of) => now.get(of) === 'both').length)
}
