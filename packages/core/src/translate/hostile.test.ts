import { describe, expect, test, vi } from 'vitest'
import { createContext, type OperationContext } from '../context/index.js'
import { memoryStorage } from '../memory/index.js'
import { translate } from './index.js'

const SYSTEM = 'http://example.org/one'

function contextWith(group: unknown): OperationContext {
  return createContext({
    storage: memoryStorage([{ resourceType: 'ConceptMap', id: 'm', url: 'http://example.org/m', status: 'active', group }]),
  })
}

const NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'length', 'prototype']

describe('names of object properties', () => {
  test.each(NAMES)('%s as a code or system is unknown unless the map has it', async (name) => {
    const ctx = contextWith([{ source: SYSTEM, target: SYSTEM, element: [{ code: 'a', target: [{ code: 'b', equivalence: 'equal' }] }] }])
    expect(await translate(ctx, { mapId: 'm', coding: { system: SYSTEM, code: name } })).toMatchObject({ result: false, matches: [] })
    expect(await translate(ctx, { mapId: 'm', coding: { system: name, code: 'a' } })).toMatchObject({ result: false, matches: [] })
    expect(await translate(ctx, { mapId: 'm', coding: { system: SYSTEM, code: name }, reverse: true })).toMatchObject({
      result: false,
      matches: [],
    })
    await expect(translate(ctx, { mapId: name, coding: { system: SYSTEM, code: 'a' } })).rejects.toMatchObject({ code: 'not-found' })
  })

  test.each(NAMES)('%s is found where the map has it', async (name) => {
    const ctx = contextWith([{ source: name, target: SYSTEM, element: [{ code: name, target: [{ code: name, equivalence: 'equal' }] }] }])
    const { matches } = await translate(ctx, { mapId: 'm', coding: { system: name, code: name } })
    expect(matches.map((match) => match.concept)).toEqual([{ system: SYSTEM, code: name }])
  })
})

describe('a stored map that is malformed is refused by name', () => {
  test.each([
    ['group', null],
    ['group', [null]],
    ['group', 'text'],
    ['group', { source: SYSTEM }],
    ['group[0].element', [{ source: SYSTEM, element: null }]],
    ['group[0].element', [{ source: SYSTEM, element: [null, 7, 'a', []] }]],
    ['group[0].element[0].target', [{ source: SYSTEM, element: [{ code: 'a', target: null }] }]],
    ['group[0].element[0].target', [{ source: SYSTEM, element: [{ code: 'a', target: [null] }] }]],
    ['group[0].element[0].target[0].code', [{ source: SYSTEM, element: [{ code: 'a', target: [{}] }] }]],
    ['group[0].element[0].target[0].code', [{ source: SYSTEM, element: [{ code: 'a', target: [{ code: 5, display: 'five' }] }] }]],
    ['group[0].element[0].target[0].code', [{ source: SYSTEM, element: [{ code: 'a', target: [{ equivalence: 'equal' }] }] }]],
    ['group[0].element[0].target[1].equivalence', [{ element: [{ target: [{ code: 'b' }, { code: 'c', equivalence: 'same' }] }] }]],
    ['group[0].element[0].code', [{ source: SYSTEM, element: [{ code: ['a'], target: [{ code: 'x' }] }] }]],
    ['group[1].source', [{ source: SYSTEM }, { source: 5, target: SYSTEM, element: [{ code: 'b' }] }]],
  ])('at %s: %j', async (place, group) => {
    const ctx = contextWith(group)
    for (const reverse of [false, true])
      await expect(translate(ctx, { mapId: 'm', coding: { system: SYSTEM, code: 'a' }, reverse })).rejects.toMatchObject({
        code: 'definition-invalid',
        message: "ConceptMap 'http://example.org/m' has a malformed element.",
        expression: [`ConceptMap.${place}`],
      })
  })

  test.each([
    [[{ source: SYSTEM }]],
    [[{ source: SYSTEM, element: [{ code: 'a' }] }]],
    [[{ source: SYSTEM, element: [{ display: 'A' }] }]],
  ])('one that maps nothing is not: %j', async (group) => {
    const ctx = contextWith(group)
    expect(await translate(ctx, { mapId: 'm', coding: { system: SYSTEM, code: 'a' } })).toMatchObject({ result: false, matches: [] })
  })

  test('a target without code says only how it relates', async () => {
    const ctx = contextWith([
      {
        source: SYSTEM,
        target: SYSTEM,
        element: [{ code: 'a', target: [{ equivalence: 'unmatched', product: [null], dependsOn: null }] }],
      },
    ])
    const { matches } = await translate(ctx, { mapId: 'm', coding: { system: SYSTEM, code: 'a' } })
    expect(matches).toEqual([{ equivalence: 'unmatched', from: { system: SYSTEM, code: 'a' }, products: [], map: 'http://example.org/m' }])
  })
})

describe('work', () => {
  const numbered = (count: number): object[] =>
    Array.from({ length: count }, (_, i) => ({ code: `c${i}`, target: [{ code: `t${i}`, equivalence: 'equal' }] }))

  test('a stored map is indexed once, whatever the number of calls', async () => {
    const resource = {
      resourceType: 'ConceptMap',
      id: 'm',
      status: 'active',
      group: [{ source: SYSTEM, target: SYSTEM, element: numbered(10) }],
    }
    const storage = memoryStorage([resource])
    const parsed = vi.fn()
    const ctx = createContext({
      storage: {
        ...storage,
        read: async (type, id) => {
          const stored = await storage.read(type, id)
          if (stored === undefined) return undefined
          return Object.defineProperty({ ...stored, parsing: undefined }, 'resource', { get: () => (parsed(), stored.resource) })
        },
      },
    })
    for (let i = 0; i < 10; i++) await translate(ctx, { mapId: 'm', coding: { system: SYSTEM, code: `c${i}` } })
    expect(parsed).toHaveBeenCalledTimes(1)
  })

  test('a CodeableConcept of 10,000 codings looks each of them up once, also on the way through other maps', async () => {
    const coding = Array.from({ length: 10_000 }, (_, i) => ({ system: SYSTEM, code: `c${i}` }))
    const inline = {
      resourceType: 'ConceptMap',
      url: 'http://example.org/inline',
      status: 'active',
      group: [{ source: SYSTEM, target: SYSTEM, unmapped: { mode: 'other-map', url: 'http://example.org/m' } }],
    }
    const ctx = contextWith([{ source: SYSTEM, target: SYSTEM, element: numbered(10_000) }])
    const { matches } = await translate(ctx, { conceptMap: inline, codeableConcept: { coding: [...coding, ...coding] } })
    expect(matches).toHaveLength(10_000)
  })

  test('ten thousand elements of one code are gathered, not copied again and again', async () => {
    const element = numbered(10_000).map((one) => ({ ...one, code: 'same' }))
    const { matches } = await translate(contextWith([{ source: SYSTEM, target: SYSTEM, element }]), {
      mapId: 'm',
      coding: { system: SYSTEM, code: 'same' },
    })
    expect(matches).toHaveLength(10_000)
  })

  test('the translations of one code let other work run in between', async () => {
    const element = numbered(10_000).map((one) => ({ ...one, code: 'same' }))
    const ctx = contextWith([{ source: SYSTEM, target: SYSTEM, element }])
    const ask = { mapId: 'm', coding: { system: SYSTEM, code: 'same' } }
    await translate(ctx, ask) // The map is known from here on.
    const turn = vi.fn(async () => {})
    await translate({ ...ctx, scheduler: { mayGoOn: () => false, turn } }, ask)
    expect(turn.mock.calls.length).toBeGreaterThan(500)
  })

  test('a cancelled call ends', async () => {
    const ctx = { ...contextWith([{ source: SYSTEM, element: numbered(1) }]), signal: AbortSignal.abort() }
    await expect(translate(ctx, { mapId: 'm', coding: { system: SYSTEM, code: 'c0' } })).rejects.toMatchObject({ code: 'aborted' })
  })
})

describe('what no engine knows is refused by its place', () => {
  const modifierExtension = [{ url: 'http://example.org/changes-meaning', valueBoolean: true }]
  const target = { code: 'b', equivalence: 'equal' }
  test.each([
    ['ConceptMap.modifierExtension', { modifierExtension }, {}, {}, {}],
    ['ConceptMap.implicitRules', { implicitRules: 'http://example.org/rules' }, {}, {}, {}],
    ['ConceptMap.group[0].modifierExtension', {}, { modifierExtension }, {}, {}],
    ['ConceptMap.group[0].element[0].modifierExtension', {}, {}, { modifierExtension }, {}],
    ['ConceptMap.group[0].element[0].target[0].modifierExtension', {}, {}, {}, { modifierExtension }],
  ])('%s', async (place, ofMap, ofGroup, ofElement, ofTarget) => {
    const element = [{ code: 'a', target: [{ ...target, ...ofTarget }], ...ofElement }]
    const conceptMap = {
      resourceType: 'ConceptMap',
      status: 'active',
      group: [{ source: SYSTEM, target: SYSTEM, element, ...ofGroup }],
      ...ofMap,
    }
    const asked = translate(contextWith([]), { conceptMap, coding: { system: SYSTEM, code: 'a' } })
    await expect(asked).rejects.toMatchObject({ code: 'not-supported', expression: [place] })
  })
})
