import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rounds } from '../../../../../test/effort.js'
import { members } from '../../bits/index.js'
import { finished } from '../../work/index.js'
import { depthFirst } from './resource-provider.js'

/** Any parents at all, circles included. */
const parentLists = fc
  .integer({ min: 1, max: 25 })
  .chain((size) => fc.array(fc.uniqueArray(fc.nat(size - 1), { maxLength: 3 }), { minLength: size, maxLength: size }))
  .map((lists) => lists.map((list, concept) => list.filter((parent) => parent !== concept)))

function ancestors(parents: readonly (readonly number[])[], concept: number): ReadonlySet<number> {
  const found = new Set([concept])
  for (const one of found) for (const parent of parents[one] ?? []) found.add(parent)
  return found
}

describe('a depth-first numbering', () => {
  it('gives every concept one number, and answers as a walk over the parents does', () => {
    fc.assert(
      fc.property(parentLists, (parents) => {
        const { order, hierarchy } = finished(depthFirst(parents))
        expect([...order].sort((a, b) => a - b)).toEqual(parents.map((_, i) => i))
        const numberOf = new Map(Array.from(order, (old, place) => [old, place]))
        for (let old = 0; old < parents.length; old++) {
          const place = numberOf.get(old) ?? -1
          const above = new Set(Array.from(ancestors(parents, old), (one) => numberOf.get(one)))
          expect(new Set(members(hierarchy.above(place)))).toEqual(above)
          // One expectation for all pairs: one for each would take most of the time.
          const others = Array.from(parents.keys())
          expect(others.filter((other) => hierarchy.isWithin(place, other))).toEqual(others.filter((other) => above.has(other)))
          expect(others.filter((other) => hierarchy.within(other).has(place))).toEqual(others.filter((other) => above.has(other)))
        }
      }),
      { numRuns: rounds({ quick: 60, all: 300 }) },
    )
  })

  it('keeps the order of definition, children behind their parent', () => {
    const { order, hierarchy } = finished(depthFirst([[], [0], [1], [0], []]))
    expect([...order]).toEqual([0, 1, 2, 3, 4])
    expect(hierarchy.children(0)).toEqual([1, 3])
    expect(hierarchy.parents(3)).toEqual([0])
    expect(hierarchy.nested).toBe(true)
  })

  it('goes as deep as need be', () => {
    const { hierarchy } = finished(depthFirst(Array.from({ length: 100_000 }, (_, i) => (i === 0 ? [] : [i - 1]))))
    expect(hierarchy.isWithin(99_999, 0)).toBe(true)
    expect(hierarchy.within(50_000).count()).toBe(50_000)
  })
})
