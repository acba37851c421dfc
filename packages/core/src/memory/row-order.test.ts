import { describe, expect, it } from 'vitest'
import { finished } from '../work/index.js'
import { createRowOrder, type RowOrder } from './row-order.js'

/** Rows whose places are scattered; each place of two rows is the same for none. */
function scattered(count: number): number[] {
  return Array.from({ length: count }, (_, row) => (row * 7_919) % 100_003)
}

interface Ordered {
  readonly order: RowOrder<number>
  /** Number of places that were computed so far. */
  readonly looks: () => number
}

function orderOf(places: readonly number[]): Ordered {
  let looks = 0
  const placeOf = (row: number): number => {
    looks++
    return places[row] ?? -1
  }
  return { order: createRowOrder({ placeOf, compare: (a, b) => a - b, size: () => places.length }), looks: () => looks }
}

function sorted(places: readonly number[], after = -1): readonly number[] {
  const rows = [...places.keys()].filter((row) => (places[row] ?? 0) > after)
  return rows.sort((a, b) => (places[a] ?? 0) - (places[b] ?? 0))
}

describe('an order of many rows', () => {
  it('is sorted in steps, each of which looks at few rows', () => {
    const places = scattered(20_000)
    const { order, looks } = orderOf(places)
    let steps = 0
    let most = 0
    let before = looks()
    for (const _ of order.catchUp()) {
      most = Math.max(most, looks() - before)
      before = looks()
      steps++
    }
    expect(steps).toBeGreaterThan(20_000 / 1_024)
    expect(most).toBeLessThanOrEqual(2_048)
    expect([...order.after(undefined)]).toEqual(sorted(places))
  })

  it('is built once for callers that wait for it at the same time', () => {
    const { order, looks } = orderOf(scattered(20_000))
    const [first, second] = [order.catchUp(), order.catchUp()]
    for (let ended = 0; ended < 2;) {
      ended = 0
      if (first.next().done === true) ended++
      if (second.next().done === true) ended++
    }
    expect(looks()).toBeLessThanOrEqual(20_000 + 2)
  })

  it.each([1, 100, 5_000])('has %i rows that were added while it was built, and after', (added) => {
    const places = scattered(10_000)
    const { order } = orderOf(places)
    const work = order.catchUp()
    work.next()
    places.push(...scattered(10_000 + added).slice(10_000))
    finished(work)
    expect([...order.after(undefined)]).toEqual(sorted(places))
    places.push(100_004)
    expect([...order.after(50_000)]).toEqual(sorted(places, 50_000))
  })
})
