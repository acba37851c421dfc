import type { Comparison, Condition, IndexEntry } from 'fhir-ops/storage'
import { expect } from 'vitest'
import { EVERYTHING, basicsWhere, byGender, idsOf, indexed, patient, type StoragePromise, type Subject } from './promises.js'

const TEXTS = ['abc', 'ab', 'ABC', 'a%c', 'a_c', 'a*c', '', 'xabc', 'äbc', '[a]', 'a\\c', "a'c", '🙂a']

const TEXT_CASES: readonly (readonly [op: 'eq' | 'prefix' | 'contains' | 'suffix', holds: (text: string, operand: string) => boolean])[] = [
  ['eq', (text, operand) => text === operand],
  ['prefix', (text, operand) => text.startsWith(operand)],
  ['contains', (text, operand) => text.includes(operand)],
  ['suffix', (text, operand) => text.endsWith(operand)],
]

const NUMBERS = [-8_640_000_000_000_000, -1.5, 0, 1, 1.0000001, 1_704_067_200_000, 8_640_000_000_000_000, 1.7976931348623157e308]

const NUMBER_CASES: readonly (readonly [op: 'eq' | 'lt' | 'le' | 'gt' | 'ge', holds: (value: number, operand: number) => boolean])[] = [
  ['eq', (value, operand) => value === operand],
  ['lt', (value, operand) => value < operand],
  ['le', (value, operand) => value <= operand],
  ['gt', (value, operand) => value > operand],
  ['ge', (value, operand) => value >= operand],
]

const textPromises: readonly StoragePromise[] = (['system', 'value', 'text'] as const).flatMap((field) => [
  ...TEXT_CASES.map(([op, holds]) => ({
    promise: `${op} compares ${field} character by character, without wildcards`,
    check: async ({ storage }: Subject) => {
      await storage.write(TEXTS.map((text, index) => indexed(`t${index}`, { param: 'p', [field]: text })))
      await storage.write([indexed('none', { param: 'p', low: 1 }), indexed('other', { param: 'q', [field]: 'abc' })])
      for (const operand of [...TEXTS, '%', '_', 'c', 'bc', 'b']) {
        const expected = TEXTS.flatMap((text, index) => (holds(text, operand) ? [`t${index}`] : [])).sort()
        expect(await basicsWhere(storage, test({ field, op, operand })), `${op} ${operand}`).toEqual(expected)
      }
    },
  })),
  {
    promise: `in finds ${field} among its operands`,
    check: async ({ storage }: Subject) => {
      await storage.write(TEXTS.map((text, index) => indexed(`t${index}`, { param: 'p', [field]: text })))
      expect(await basicsWhere(storage, test({ field, op: 'in', operands: ['ab', 'a%c', 'nothing', 'ab'] }))).toEqual(['t1', 't3'])
      expect(await basicsWhere(storage, test({ field, op: 'in', operands: [] }))).toEqual([])
    },
  },
])

const numberPromises: readonly StoragePromise[] = (['low', 'high'] as const).flatMap((field) =>
  NUMBER_CASES.map(([op, holds]) => ({
    promise: `${op} compares ${field} as a number`,
    check: async ({ storage }: Subject) => {
      await storage.write(NUMBERS.map((value, index) => indexed(`n${index}`, { param: 'p', [field]: value })))
      await storage.write([indexed('none', { param: 'p', value: '1' })])
      for (const operand of [...NUMBERS, 0.5, -1e300]) {
        const expected = NUMBERS.flatMap((value, index) => (holds(value, operand) ? [`n${index}`] : [])).sort()
        expect(await basicsWhere(storage, test({ field, op, operand })), `${op} ${operand}`).toEqual(expected)
      }
    },
  })),
)

const absentPromises: readonly StoragePromise[] = (['system', 'value', 'text', 'low', 'high'] as const).map((field) => ({
  promise: `absent holds where an entry has no ${field}`,
  check: async ({ storage }: Subject) => {
    const whole: IndexEntry = { param: 'p', system: 's', value: 'v', text: 't', low: 0, high: 0 }
    const { [field]: _, ...without } = whole
    await storage.write([indexed('with', whole), indexed('without', without), indexed('both', whole, without), indexed('neither')])
    expect(await basicsWhere(storage, test({ field, op: 'absent' }))).toEqual(['both', 'without'])
  },
}))

export const conditionPromises: readonly StoragePromise[] = [
  ...textPromises,
  ...numberPromises,
  ...absentPromises,
  {
    promise: 'a test without comparisons holds where the parameter has an entry',
    check: async ({ storage }) => {
      await storage.write([indexed('a', { param: 'p' }), indexed('b', { param: 'q' }), indexed('c', { param: 'p', value: 'v' })])
      expect(await basicsWhere(storage, test())).toEqual(['a', 'c'])
    },
  },
  {
    promise: 'the comparisons of a test hold for one and the same entry',
    check: async ({ storage }) => {
      await storage.write([
        indexed('same', { param: 'p', system: 's', value: 'v', low: 1 }),
        indexed('apart', { param: 'p', system: 's', value: 'x' }, { param: 'p', system: 't', value: 'v', low: 1 }),
      ])
      const both = test({ field: 'system', op: 'eq', operand: 's' }, { field: 'value', op: 'eq', operand: 'v' })
      expect(await basicsWhere(storage, both)).toEqual(['same'])
      const ranged = test({ field: 'low', op: 'ge', operand: 1 }, { field: 'system', op: 'prefix', operand: 's' })
      expect(await basicsWhere(storage, ranged)).toEqual(['same'])
    },
  },
  {
    promise: 'a resource with several matching entries comes once and counts once',
    check: async ({ storage }) => {
      await storage.write([indexed('a', { param: 'p', value: 'v' }, { param: 'p', value: 'v' }, { param: 'p', value: 'w' })])
      expect(await basicsWhere(storage, test())).toEqual(['a'])
      expect(await storage.count({ type: 'Basic', where: test() })).toBe(1)
    },
  },
  {
    promise: 'a parameter that no resource has matches nothing',
    check: async ({ storage }) => {
      await storage.write([indexed('a', { param: 'p', value: 'v' })])
      for (const param of ['nothing', 'constructor', '__proto__', "p'", 'P']) {
        expect(await basicsWhere(storage, { kind: 'entry', param, all: [] })).toEqual([])
      }
    },
  },
  {
    promise: 'and holds when all parts do, also when there is none',
    check: async ({ storage }) => {
      await storage.write([indexed('a', { param: 'p' }, { param: 'q' }), indexed('b', { param: 'p' }), indexed('c')])
      expect(await basicsWhere(storage, { kind: 'and', conditions: [test(), has('q')] })).toEqual(['a'])
      expect(await basicsWhere(storage, EVERYTHING)).toEqual(['a', 'b', 'c'])
    },
  },
  {
    promise: 'or holds when one part does, and never when there is none',
    check: async ({ storage }) => {
      await storage.write([indexed('a', { param: 'p' }, { param: 'q' }), indexed('b', { param: 'p' }), indexed('c')])
      expect(await basicsWhere(storage, { kind: 'or', conditions: [has('q'), has('p'), has('q')] })).toEqual(['a', 'b'])
      expect(await basicsWhere(storage, { kind: 'or', conditions: [] })).toEqual([])
    },
  },
  {
    promise: 'not holds for every other resource of the type, also for those without entries',
    check: async ({ storage }) => {
      await storage.write([indexed('a', { param: 'p', value: 'v' }), indexed('b', { param: 'p', value: 'w' }), indexed('c')])
      const v = test({ field: 'value', op: 'eq', operand: 'v' })
      expect(await basicsWhere(storage, { kind: 'not', condition: v })).toEqual(['b', 'c'])
      expect(await basicsWhere(storage, { kind: 'not', condition: { kind: 'not', condition: v } })).toEqual(['a'])
    },
  },
  {
    promise: 'id holds for the ids of the list that exist',
    check: async ({ storage }) => {
      await storage.write([patient('a'), patient('b'), patient('c')])
      const where: Condition = { kind: 'id', ids: ['c', 'x', 'a', 'a'] }
      expect(await idsOf(storage, { type: 'Patient', where, parameters: [['_id', 'c,x,a,a']] })).toEqual(['a', 'c'])
      expect(await idsOf(storage, { type: 'Patient', where: { kind: 'id', ids: [] } })).toEqual([])
    },
  },
  {
    promise: 'lastUpdated bounds are inclusive, and each may be absent',
    check: async ({ storage, setTime }) => {
      for (const second of [1, 2, 3]) {
        setTime(`2024-01-01T00:00:0${second}.000Z`)
        await storage.write([indexed(`s${second}`)])
      }
      const at = Date.parse('2024-01-01T00:00:02.000Z')
      expect(await basicsWhere(storage, { kind: 'lastUpdated', from: at })).toEqual(['s2', 's3'])
      expect(await basicsWhere(storage, { kind: 'lastUpdated', to: at })).toEqual(['s1', 's2'])
      expect(await basicsWhere(storage, { kind: 'lastUpdated', from: at, to: at })).toEqual(['s2'])
      expect(await basicsWhere(storage, { kind: 'lastUpdated' })).toEqual(['s1', 's2', 's3'])
      expect(await basicsWhere(storage, { kind: 'lastUpdated', from: at + 1, to: at + 1 })).toEqual([])
    },
  },
  {
    promise: 'conditions nest',
    check: async ({ storage }) => {
      await storage.write([
        indexed('a', { param: 'p' }),
        indexed('b', { param: 'q' }),
        indexed('c', { param: 'p' }, { param: 'q' }),
        indexed('d'),
      ])
      const oneOf: Condition = {
        kind: 'or',
        conditions: [
          { kind: 'and', conditions: [has('p'), { kind: 'not', condition: has('q') }] },
          {
            kind: 'and',
            conditions: [
              { kind: 'id', ids: ['b', 'd'] },
              { kind: 'not', condition: { kind: 'and', conditions: [has('p')] } },
            ],
          },
        ],
      }
      expect(await basicsWhere(storage, oneOf)).toEqual(['a', 'b', 'd'])
    },
  },
  {
    promise: 'a search by a token finds its resources',
    check: async ({ storage }) => {
      await storage.write([patient('a'), patient('b', 'male'), patient('c')])
      expect(await idsOf(storage, byGender('female'))).toEqual(['a', 'c'])
      expect(await storage.count(byGender('male'))).toBe(1)
    },
  },
  {
    promise: 'a long list of operands and a wide or are answered',
    check: async ({ storage }) => {
      await storage.write([indexed('a', { param: 'p', value: 'v7' }), indexed('b', { param: 'p', value: 'w' })])
      const operands = Array.from({ length: 50_000 }, (_, index) => `v${index}`)
      expect(await basicsWhere(storage, test({ field: 'value', op: 'in', operands }))).toEqual(['a'])
      const conditions = operands.slice(0, 1_000).map((operand) => test({ field: 'value', op: 'eq', operand }))
      expect(await basicsWhere(storage, { kind: 'or', conditions })).toEqual(['a'])
    },
  },
]

function test(...all: readonly Comparison[]): Condition {
  return { kind: 'entry', param: 'p', all }
}

function has(param: string): Condition {
  return { kind: 'entry', param, all: [] }
}
