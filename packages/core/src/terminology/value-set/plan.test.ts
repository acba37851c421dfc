import { describe, expect, it } from 'vitest'
import { codeSystem, contextOf, cs, valueSet, vs } from '../../../test/terminology-content.js'
import { definitionEntries } from '../../content/index.js'
import { createContext, createPace, type OperationContext } from '../../context/index.js'
import { expand } from '../../expand/index.js'
import type { JsonObject } from '../../json/index.js'
import { memoryStorage } from '../../memory/index.js'
import { putResource } from '../../storage/index.js'
import { validateCode } from '../../validate-code/index.js'
import { terminologyScope } from '../scope.js'
import { NO_RULES } from '../versions.js'
import { makePlan } from './make-plan.js'
import { readValueSet } from './value-set.js'

const PARTS = 400
const inEachSystem = Array.from({ length: PARTS }, (_, i) => ({ system: cs(`s${i}`), filter: [{ property: 'code', op: '=', value: 'x' }] }))
const ctx = contextOf(
  codeSystem('living', [{ code: 'cat' }], { version: '7' }),
  valueSet('imported', { include: inEachSystem }),
  valueSet('versions', { include: versionsOf(60) }),
)

function versionsOf(count: number, from = 0): readonly JsonObject[] {
  return Array.from({ length: count }, (_, i) => ({ system: cs('living'), version: `${from + i}` }))
}

it('a value set that many includes name is looked at once, and others run in between', async () => {
  const scope = await terminologyScope(ctx)
  let steps = 0
  const pace = createPace(ctx)
  const step = (): undefined => void steps++
  const run: typeof pace.run = async (work) => {
    for (;;) {
      const next = work.next()
      if (next.done === true) return next.value
      steps++
    }
  }
  const include = Array.from({ length: 300 }, () => ({ valueSet: [vs('imported')] }))
  const plan = await makePlan({ ...scope, pace: { ...pace, step, run } }, readValueSet(valueSet('outer', { include })))
  expect(plan.systems.size).toBe(PARTS)
  expect(steps).toBeGreaterThan(2 * PARTS)
  expect(steps).toBeLessThan(2_500)
})

describe('very many versions of one code system', () => {
  it.each([
    ['that a value set names', versionsOf(101)],
    ['together with those of an import', [{ valueSet: [vs('versions')] }, ...versionsOf(60, 50)]],
  ])('are refused: %s', async (_, include) => {
    const given = valueSet('many', { include })
    const refusal = {
      code: 'too-costly',
      message: `The value set '${vs('many')}' names more than 100 versions of '${cs('living')}'.`,
    }
    await expect(expand(ctx, { valueSet: given })).rejects.toMatchObject(refusal)
    await expect(validateCode(ctx, { valueSet: given, coding: { system: cs('living'), code: 'cat' } })).rejects.toMatchObject(refusal)
  })

  const isDog = { property: 'code', op: '=', value: 'dog' }

  /** Counts how often a version is chosen: each choice asks for a forced one. */
  class Counted extends Map<string, string> {
    count = 0
    override get(url: string): string | undefined {
      this.count++
      return super.get(url)
    }
  }

  it.each([
    ['includes', (parts: readonly JsonObject[]) => ({ include: parts.map((part) => ({ ...part, filter: [isDog] })) })],
    [
      'excludes',
      (parts: readonly JsonObject[]) => ({ include: versionsOf(1, 7), exclude: parts.map((part) => ({ ...part, filter: [isDog] })) }),
    ],
  ])('a code is asked about in the time that the %s take, however many versions they name', async (_, compose) => {
    const parts = Array.from({ length: 20 }, () => versionsOf(100)).flat()
    const asked = async (of: readonly JsonObject[]): Promise<number> => {
      const force = new Counted()
      const coding = { system: cs('living'), code: 'cat' }
      await validateCode(ctx, { valueSet: valueSet('many', compose(of)), coding, rules: { ...NO_RULES, force } })
      return force.count
    }
    expect(await asked(parts)).toBeLessThan(10 * parts.length)
  })
})

describe('an include of all versions of a code system', () => {
  const changing = [
    codeSystem('changing', [{ code: 'a', display: 'Old' }, { code: 'b' }], { version: '1.0.0' }),
    codeSystem('changing', [{ code: 'a', display: 'New' }, { code: 'c' }], { version: '2.0.0' }),
    codeSystem('changing', [{ code: 'd' }], { version: '3' }),
  ]
  const every = valueSet('every', { include: [{ system: cs('changing'), version: '*' }] })
  const codesOf = async (known: OperationContext, given: JsonObject): Promise<readonly string[]> => {
    const { contains } = await expand(known, { valueSet: given })
    return contains.map(({ code, version }) => `${code} ${version ?? ''}`)
  }

  it('has the codes of each', async () => {
    expect(await codesOf(contextOf(...changing), every)).toEqual(['d 3', 'a 2.0.0', 'c 2.0.0', 'a 1.0.0', 'b 1.0.0'])
    const isMember = async (code: string): Promise<boolean> =>
      (await validateCode(contextOf(...changing), { valueSet: every, coding: { system: cs('changing'), code } })).result
    expect(await Promise.all(['a', 'b', 'c', 'd', 'e'].map(isMember))).toEqual([true, true, true, true, false])
  })

  it('has those of a system without version, too', async () => {
    expect(await codesOf(contextOf(codeSystem('changing', [{ code: 'a' }])), every)).toEqual(['a '])
  })

  it('has those of a definition without version beside others', async () => {
    const known = contextOf(codeSystem('changing', [{ code: 'a' }, { code: 'n' }]), ...changing.slice(0, 1))
    expect(await codesOf(known, every)).toEqual(['a 1.0.0', 'b 1.0.0', 'a ', 'n '])
    const isMember = async (coding: { code: string; version?: string }): Promise<boolean> =>
      (await validateCode(known, { valueSet: every, coding: { system: cs('changing'), ...coding } })).result
    const asked = [{ code: 'b' }, { code: 'n' }, { code: 'x' }, { code: 'b', version: '1.0.0' }, { code: 'n', version: '1.0.0' }]
    expect(await Promise.all(asked.map(isMember))).toEqual([true, true, false, true, false])
    const { explanation } = await expand(known, { valueSet: every, explain: true })
    expect(explanation?.steps.filter(({ kind }) => kind === 'include').map(({ text }) => text)).toEqual([
      `Includes codes of '${cs('changing')}|1.0.0': 2 codes.`,
      `Includes codes of '${cs('changing')}': 2 codes.`,
    ])
    const include = [{ system: cs('changing'), version: '1.0.0' }]
    const exclude = [{ system: cs('changing'), version: '*', filter: [{ property: 'code', op: 'in', value: 'b,n' }] }]
    expect(await codesOf(known, valueSet('without', { include, exclude }))).toEqual(['a 1.0.0'])
  })

  it('names a system of which nothing is known', async () => {
    await expect(codesOf(contextOf(), every)).rejects.toThrow(`A definition for CodeSystem '${cs('changing')}' could not be found`)
  })

  it('has a version that is stored later', async () => {
    const storage = memoryStorage()
    const store = (resource: JsonObject, id: string): Promise<unknown> =>
      storage.write([putResource({ type: String(resource['resourceType']), id, source: { ...resource, id } }, definitionEntries)])
    const known = createContext({ storage })
    const codes = async (): Promise<readonly string[]> => (await expand(known, { url: vs('every') })).contains.map(({ code }) => code)
    await store(every, 'every')
    await store(codeSystem('changing', [{ code: 'a' }, { code: 'b' }], { version: '1.0.0' }), 'first')
    expect(await codes()).toEqual(['a', 'b'])
    await store(codeSystem('changing', [{ code: 'c' }], { version: '2.0.0' }), 'second')
    expect(await codes()).toEqual(['c', 'a', 'b'])
  })

  it('leaves the codes of all versions out where it is an exclude', async () => {
    const without = valueSet('without', {
      include: [{ system: cs('changing'), version: '1.0.0' }],
      exclude: [{ system: cs('changing'), version: '*' }],
    })
    expect(await codesOf(contextOf(...changing), without)).toEqual([])
  })
})
