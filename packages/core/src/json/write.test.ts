import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rounds } from '../../../../test/effort.js'
import type { JsonObject } from './narrow.js'
import { writeInPieces } from './write.js'

interface Written {
  readonly text: string
  readonly pieces: number
}

function write(data: JsonObject | readonly unknown[], piece?: number): Written {
  const work = writeInPieces(data, piece)
  for (let pieces = 1; ; pieces++) {
    const step = work.next()
    if (step.done === true) return { text: step.value, pieces }
  }
}

describe('data that is written in pieces', () => {
  it('is the text that JSON.stringify gives', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 0, max: 30 }), (value, piece) => {
        expect(write([value], piece).text).toBe(JSON.stringify([value]))
        expect(write({ value }, piece).text).toBe(JSON.stringify({ value }))
      }),
      { numRuns: rounds({ quick: 200, all: 1_000 }) },
    )
  })

  it.each([
    [{ a: undefined, b: [undefined, 1], c: null }],
    [{ toString: 1, '"': -0 }],
    [[]],
    [{}],
    [JSON.parse('{"__proto__":{"a":[1,2,3]}}')],
  ])('%j is written as JSON.stringify would', (data) => {
    for (const piece of [0, 1, 100]) expect(write(data, piece).text).toBe(JSON.stringify(data))
  })

  it('lets others run in between where it is long, and only there', () => {
    const data = { list: Array.from({ length: 10_000 }, (_, i) => ({ i, deep: { text: 'x' } })) }
    const { text, pieces } = write(data)
    expect(text).toBe(JSON.stringify(data))
    expect(pieces).toBeGreaterThan(30)
    expect(write({ list: data.list.slice(0, 100) }).pieces).toBe(1)
  })

  it.each([
    ['lists', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['objects', '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000)],
  ])('%s nested deeper than the stack are a RangeError, as of JSON.stringify, and soon', (_, text) => {
    const work = writeInPieces(JSON.parse(text))
    let pieces = 0
    expect(() => {
      for (; work.next().done !== true;) pieces++
    }).toThrow(RangeError)
    expect(pieces).toBeLessThan(1_000)
  })

  it('reads no more than a piece of an object with very many members in one go', () => {
    let reads = 0
    const wide: JsonObject = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`m${n}`, n]))
    const counted = new Proxy(wide, { get: (target, name) => (reads++, typeof name === 'string' ? target[name] : undefined) })
    const work = writeInPieces({ outer: { counted } }, 100)
    let [most, text] = [0, '']
    for (let before = 0; text === ''; before = reads) {
      const step = work.next()
      most = Math.max(most, reads - before)
      if (step.done === true) text = step.value
    }
    expect(text).toBe(JSON.stringify({ outer: { counted: wide } }))
    expect(most).toBeLessThanOrEqual(101)
  })
})
