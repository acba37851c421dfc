import { beforeAll, describe, expect, test } from 'vitest'
import { rounds } from '../../../../test/effort.js'
import { createContext, createPace, type OperationContext } from '../context/index.js'
import type { JsonObject } from '../json/index.js'
import { memoryStorage } from '../memory/index.js'
import { conceptsOf, definedValueSet, makePlan, membersOf, terminologyScope, listable, type Segment } from '../terminology/index.js'
import { finished } from '../work/index.js'
import { expand } from './expand.js'
import { compareKeys, matching, ranked } from './text-filter.js'

const SYSTEM = 'http://example.org/words'
const WORDS = ['a', 'ab', 'abc', 'Ábc', 'b', 'ba', 'bab', '(b)', 'a-b', '1', '12', 'c', 'x𐐨', '50%']
/** Enough that some filters have more matches than are looked at one by one. */
const CONCEPTS = 1_500
const FILTERS = ['a', 'ab', 'b', 'B a', 'a b', 'ab ab', 'abc', '(b', '1', '12', 'c1', 'c12', 'x', '%', 'a-b', 'ba c', 'bab 1', 'a a a']
/** By seed, with the language that is stated and asked for. */
const SYSTEMS: readonly (readonly [seed: number, language: string | undefined])[] = [
  [1, undefined],
  [2, 'en'],
  [3, undefined],
  [4, 'en'],
]

/** The same numbers at every run. */
function draws(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) % limit
  }
}

function system(seed: number, language: string | undefined): JsonObject {
  const draw = draws(seed)
  const text = (): string => Array.from({ length: 1 + draw(4) }, () => WORDS[draw(WORDS.length)] ?? '').join(draw(9) === 0 ? ', ' : ' ')
  const concept = Array.from({ length: CONCEPTS }, (_, i) => ({
    code: draw(40) === 0 ? `AB ${i % 3} ${i}` : `c${i}`,
    ...((language !== undefined || draw(10) > 0) && { display: text() }),
    ...(draw(3) === 0 && { designation: [{ language: 'de', value: text() }] }),
  }))
  return {
    resourceType: 'CodeSystem',
    id: 'words',
    url: SYSTEM,
    status: 'active',
    content: 'complete',
    concept,
    ...(language !== undefined && { language }),
  }
}

const valueSet: JsonObject = { resourceType: 'ValueSet', status: 'active', compose: { include: [{ system: SYSTEM }] } }

async function segmentOf(resource: JsonObject): Promise<Segment> {
  const ctx = createContext({ storage: memoryStorage([resource]) })
  const scope = await terminologyScope(ctx)
  const definition = { type: 'ValueSet', url: '', status: 'active', resource: valueSet }
  const { segments } = finished(membersOf(scope, await makePlan(scope, definedValueSet(ctx.cache, definition))))
  const [segment] = segments
  if (segment === undefined) throw new TypeError('The system has no codes.')
  const build = listable(segment.provider).buildTexts?.()
  if (build !== undefined) finished(build)
  return segment
}

/** Every match compared with every other. */
async function oracle(segment: Segment, filter: string): Promise<readonly string[]> {
  const pace = createPace(createContext({ storage: memoryStorage() }))
  const matches = await matching(pace, segment, filter)
  const all = await ranked(pace, matches, conceptsOf(matches), undefined)
  return all.toSorted((a, b) => compareKeys(a.key, b.key)).map(({ concept }) => matches.provider.code(concept))
}

describe('the order of matches', () => {
  describe.each(SYSTEMS.slice(0, rounds({ quick: 2, all: SYSTEMS.length })))('of system %i', (seed, language) => {
    let segment: Segment
    let ctx: OperationContext
    beforeAll(async () => {
      const resource = system(seed, language)
      segment = await segmentOf(resource)
      ctx = createContext({ storage: memoryStorage([resource]) })
    })

    test.each(FILTERS)('is that of all compared, for %j', async (filter) => {
      const expected = await oracle(segment, filter)
      const input = { valueSet, filter, displayLanguage: language }
      const whole = await expand(ctx, input)
      expect([whole.total, whole.contains.map(({ code }) => code)]).toEqual([expected.length, expected])
      for (const [offset, count] of [
        [0, 1],
        [0, 20],
        [7, 13],
        [100, 50],
        [expected.length - 1, 5],
        [expected.length, 5],
      ] as const) {
        const page = await expand(ctx, { ...input, offset: Math.max(0, offset), count })
        expect(page.contains.map(({ code }) => code)).toEqual(expected.slice(Math.max(0, offset), Math.max(0, offset) + count))
      }
    })
  })

  test('of several systems goes by relevance across them', async () => {
    const other = { ...system(9, undefined), id: 'more', url: `${SYSTEM}/more` }
    const both = { ...valueSet, compose: { include: [{ system: SYSTEM }, { system: other.url }] } }
    const ctx = createContext({ storage: memoryStorage([system(8, undefined), other]) })
    const whole = await expand(ctx, { valueSet: both, filter: 'a b' })
    const page = await expand(ctx, { valueSet: both, filter: 'a b', offset: 5, count: 20 })
    expect(new Set(page.contains.map((entry) => entry.system)).size).toBe(2)
    expect(page.contains).toEqual(whole.contains.slice(5, 25))
  })
})
