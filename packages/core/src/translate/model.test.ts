import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rounds } from '../../../../test/effort.js'
import { createContext } from '../context/index.js'
import { memoryStorage } from '../memory/index.js'
import { translate } from './index.js'

interface Target {
  readonly code: string
  readonly equivalence: string
}
interface Group {
  readonly source: string
  readonly target: string
  readonly element: readonly { readonly code: string; readonly target: readonly Target[] }[]
  readonly unmapped?: { readonly mode: 'fixed'; readonly code: string }
}

const systems = fc.constantFrom('urn:s1', 'urn:s2', 'urn:s3')
const codes = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor')
const targets = fc.array(fc.record({ code: codes, equivalence: fc.constantFrom('equal', 'wider', 'unmatched', 'disjoint') }), {
  maxLength: 3,
})
const groups: fc.Arbitrary<readonly Group[]> = fc.array(
  fc.record(
    {
      source: systems,
      target: systems,
      element: fc.array(fc.record({ code: codes, target: targets }), { maxLength: 6 }),
      unmapped: fc.record({ mode: fc.constant('fixed' as const), code: codes }),
    },
    { requiredKeys: ['source', 'target', 'element'] },
  ),
  { maxLength: 5 },
)

/** What the sentences of the specification say, in the plainest form: no index, every element looked at. */
function expected(
  map: readonly Group[],
  asked: { readonly system: string; readonly code: string },
  options: { readonly reverse: boolean; readonly to?: string },
): readonly string[] {
  return map.flatMap((group) => {
    const [from, to] = options.reverse ? [group.target, group.source] : [group.source, group.target]
    if (from !== asked.system || (options.to !== undefined && to !== options.to)) return []
    const all = group.element.flatMap((element) => element.target.map((target) => ({ element: element.code, ...target })))
    const hits = all.filter((one) => (options.reverse ? one.code : one.element) === asked.code)
    if (hits.length === 0 && !options.reverse && group.unmapped !== undefined) return [`- ${to} ${group.unmapped.code}`]
    return hits.map((one) => `${one.equivalence} ${to} ${options.reverse ? one.element : one.code}`)
  })
}

test('translate finds what a plain reading of the map finds', async () => {
  const options = fc.record({ reverse: fc.boolean(), to: systems }, { requiredKeys: ['reverse'] })
  await fc.assert(
    fc.asyncProperty(groups, fc.record({ system: systems, code: codes }), options, async (group, coding, wanted) => {
      const ctx = createContext({ storage: memoryStorage([{ resourceType: 'ConceptMap', id: 'm', status: 'active', group }]) })
      const { matches, result } = await translate(ctx, { mapId: 'm', coding, reverse: wanted.reverse, targetSystem: wanted.to })
      const found = matches.map(({ equivalence = '-', concept }) => `${equivalence} ${concept?.system} ${concept?.code}`)
      const model = expected(group, coding, wanted)
      // Equal elements lie together in the index, so order is compared within a code only.
      expect([...found].sort()).toEqual([...model].sort())
      expect(result).toBe(model.some((line) => !/^(unmatched|disjoint)/.test(line)))
    }),
    { numRuns: rounds({ quick: 100, all: 500 }) },
  )
})

test('what translates forward is found in reverse', async () => {
  await fc.assert(
    fc.asyncProperty(groups, async (group) => {
      const ctx = createContext({
        storage: memoryStorage([
          {
            resourceType: 'ConceptMap',
            id: 'm',
            status: 'active',
            group: group.map(({ source, target, element }) => ({ source, target, element })),
          },
        ]),
      })
      for (const { source, element } of group) {
        for (const { code } of element) {
          const { matches } = await translate(ctx, { mapId: 'm', coding: { system: source, code } })
          for (const { concept } of matches) {
            const back = await translate(ctx, { mapId: 'm', coding: concept ?? {}, reverse: true })
            expect(back.matches.map((match) => match.concept)).toContainEqual({ system: source, code })
          }
        }
      }
    }),
    { numRuns: rounds({ quick: 25, all: 100 }) },
  )
})

test('a mapping is the same in both directions whatever else its element has', async () => {
  const target = { code: 't', equivalence: 'wider' }
  const rows: readonly (readonly [string, object, object])[] = [
    ['nothing else', {}, target],
    ['displays', { display: 'Source' }, { ...target, display: 'Target' }],
    ['a display of the target', {}, { ...target, display: 'Target' }],
    ['an id', { id: 'e', display: 'Source' }, target],
    ['a comment', { display: 'Source' }, { ...target, display: 'Target', comment: 'c' }],
    ['products', {}, { ...target, product: [{ property: 'p', value: 'v', display: 'V' }] }],
  ]
  for (const [name, more, one] of rows) {
    const element = [
      { code: 'first', target: [target] },
      { code: 'a', ...more, target: [one] },
      { code: 'a', target: [target, one] },
    ]
    const group = [{ source: 'urn:s', target: 'urn:t', element }]
    const ctx = createContext({ storage: memoryStorage([{ resourceType: 'ConceptMap', id: 'm', status: 'active', group }]) })
    const there = await translate(ctx, { mapId: 'm', coding: { system: 'urn:s', code: 'a' } })
    const display = 'display' in one ? { display: one.display } : {}
    const plain = { system: 'urn:t', code: 't' }
    expect(
      there.matches.map(({ concept }) => concept),
      name,
    ).toEqual([{ ...plain, ...display }, plain, { ...plain, ...display }])
    expect(
      there.matches.map(({ products }) => products.length),
      name,
    ).toEqual('product' in one ? [1, 0, 1] : [0, 0, 0])
    const back = await translate(ctx, { mapId: 'm', coding: { system: 'urn:t', code: 't' }, reverse: true })
    const source = { system: 'urn:s', code: 'a' }
    expect(
      back.matches.map(({ concept }) => concept),
      name,
    ).toEqual([{ system: 'urn:s', code: 'first' }, { ...source, ...('display' in more && { display: more.display }) }, source, source])
  }
})
