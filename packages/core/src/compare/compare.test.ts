import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rounds } from '../../../../test/effort.js'
import { call, callByGet, codeSystem, contextOf, cs, LIVING, valueSet, vs } from '../../test/terminology-content.js'
import { objectsAt, type JsonObject } from '../json/index.js'
import { makePlan, membersOf, namedValueSet, NO_RULES, terminologyScope } from '../terminology/index.js'
import { finished } from '../work/index.js'
import { compareDefinitions } from './compare-definitions.js'
import { compareMembers } from './compare.js'
import { compare, type Relationship } from './index.js'
import { compareOperation } from '../operations/index.js'

const TWO_PARENTS = codeSystem('many', [
  { code: 'a' },
  { code: 'b' },
  {
    code: 'c',
    property: [
      { code: 'parent', valueCode: 'a' },
      { code: 'parent', valueCode: 'b' },
    ],
  },
])
const OLD = codeSystem('versioned', [{ code: 'x' }, { code: 'y' }], { version: '1' })
const NEW = codeSystem('versioned', [{ code: 'x' }, { code: 'z' }], { version: '2' })
const PART = codeSystem('part', [{ code: 'p' }], { content: 'fragment' })
const NEEDED = codeSystem('needed', [{ code: 'n' }], { version: '1', versionNeeded: true })
const NEEDED_2 = codeSystem('needed', [{ code: 'n' }], { version: '2', versionNeeded: true })
const BRANCH = valueSet('branch', { include: [isA('cat')] })
const FOLDED = codeSystem('folded', [{ code: 'Up' }, { code: 'down' }], { caseSensitive: false })
const ctx = contextOf(LIVING, TWO_PARENTS, OLD, NEW, PART, NEEDED, NEEDED_2, FOLDED, BRANCH)

function isA(value: string, system = 'living'): JsonObject {
  return { system: cs(system), filter: [{ property: 'concept', op: 'is-a', value }] }
}

const folded = (codes: readonly string[]): JsonObject => list(codes, { system: cs('folded') })

function list(codes: readonly string[], more: JsonObject = {}): JsonObject {
  return { system: cs('living'), concept: codes.map((code) => ({ code })), ...more }
}

const whole: JsonObject = { system: cs('living') }

describe('two value sets', () => {
  it.each<[string, JsonObject[], JsonObject[], Relationship, boolean]>([
    ['the same codes in another order', [list(['cat', 'dog'])], [list(['dog', 'cat'])], 'same', false],
    ['one more code', [list(['cat', 'dog'])], [list(['cat'])], 'superset', false],
    ['one code fewer', [list(['cat'])], [list(['cat', 'dog'])], 'subset', false],
    ['a code that does not exist', [list(['cat', 'unicorn'])], [list(['cat'])], 'same', true],
    ['other codes', [list(['cat'])], [list(['dog'])], 'disjoint', false],
    ['some codes in common', [list(['cat', 'lion'])], [list(['cat', 'dog'])], 'overlapping', false],
    ['codes in another case, where that does not matter', [folded(['UP', 'down'])], [folded(['up', 'Down'])], 'same', false],
    ['one code in other cases', [folded(['UP', 'Up'])], [folded(['up', 'Down'])], 'subset', false],
    ['a branch and one below it', [isA('animal')], [isA('cat')], 'superset', false],
    ['a branch and one above it', [isA('cat')], [isA('animal')], 'subset', false],
    ['two branches', [isA('cat')], [isA('dog')], 'disjoint', false],
    ['two branches with a child in common', [isA('a', 'many')], [isA('b', 'many')], 'overlapping', true],
    ['a branch and its codes', [isA('cat')], [list(['cat', 'lion'])], 'same', true],
    ['a branch and all', [isA('cat')], [whole], 'subset', true],
    ['another code system as well', [whole, isA('a', 'many')], [whole], 'superset', true],
    ['an import and what it has', [{ valueSet: [vs('branch')] }], [isA('cat')], 'same', true],
    ['nothing on both sides', [list(['unicorn'])], [isA('unicorn')], 'empty', true],
    ['nothing on one side', [list(['unicorn'])], [isA('cat')], 'disjoint', true],
    [
      'a code in two versions',
      [{ system: cs('versioned'), version: '1', concept: [{ code: 'x' }] }],
      [{ system: cs('versioned'), version: '2', concept: [{ code: 'x' }] }],
      'same',
      false,
    ],
    [
      'two versions',
      [isA('x', 'versioned'), { system: cs('versioned'), version: '1', concept: [{ code: 'y' }] }],
      [isA('x', 'versioned')],
      'superset',
      true,
    ],
    [
      'two versions of a system that needs them',
      [{ system: cs('needed'), version: '1', concept: [{ code: 'n' }] }],
      [{ system: cs('needed'), version: '2', concept: [{ code: 'n' }] }],
      'disjoint',
      true,
    ],
    ['a fragment', [{ system: cs('part') }, list(['cat'])], [isA('p', 'part')], 'indeterminate', true],
    ['the same fragment', [{ system: cs('part') }], [{ system: cs('part') }], 'same', false],
    ['an unknown code system', [{ system: cs('gone'), concept: [{ code: 'a' }] }], [{ system: cs('gone') }], 'indeterminate', true],
    ['an unknown filter', [{ ...whole, filter: [{ property: 'legs', op: 'about', value: '4' }] }], [whole], 'indeterminate', true],
  ])('%s', async (_, mine, others, relationship, performedExpansion) => {
    const [thisValueSet, otherValueSet] = [mine, others].map((include) => ({ valueSet: valueSet('x', { include }) }))
    expect(await compare(ctx, { thisValueSet: thisValueSet!, otherValueSet: otherValueSet! })).toMatchObject({
      relationship,
      performedExpansion,
    })
  })

  it('that carry nothing but empty expansions are empty', async () => {
    const empty = { valueSet: { resourceType: 'ValueSet', url: vs('bare'), expansion: { timestamp: '2026-01-01' } } }
    expect(await compare(ctx, { thisValueSet: empty, otherValueSet: empty })).toMatchObject({ relationship: 'empty' })
  })

  it('without compose cannot be compared', async () => {
    const input = { thisValueSet: { valueSet: { resourceType: 'ValueSet', url: vs('bare') } }, otherValueSet: { url: vs('branch') } }
    expect(await compare(ctx, input)).toMatchObject({ relationship: 'indeterminate', message: expect.stringContaining('includes nothing') })
  })

  it.each([
    ['versioned', 'x', 'always', 'disjoint'],
    ['versioned', 'x', 'as-needed', 'same'],
    ['needed', 'n', 'as-needed', 'disjoint'],
    ['needed', 'n', 'never', 'same'],
  ] as const)('with %s#%s in two versions, version-policy %s: %s', async (system, code, versionPolicy, relationship) => {
    const at = (version: string) => ({ valueSet: valueSet('x', { include: [{ system: cs(system), version, concept: [{ code }] }] }) })
    expect(await compare(ctx, { thisValueSet: at('1'), otherValueSet: at('2'), versionPolicy })).toMatchObject({ relationship })
  })

  it('give the codes of lists in alphabetical order', async () => {
    const of = (...codes: string[]): { valueSet: JsonObject } => ({ valueSet: valueSet('x', { include: [list(codes)] }) })
    const { codes } = await compare(ctx, { thisValueSet: of('plant', 'dog', 'cat'), otherValueSet: of('lion', 'dog', 'duck', 'cat') })
    expect(codes).toEqual({ common: ['cat', 'dog'], missing: ['plant'], extra: ['duck', 'lion'] })
  })

  it('give by their definitions what their codes give', async () => {
    const codes = fc.subarray(['animal', 'cat', 'lion', 'dog', 'duck', 'plant', 'unicorn'], { minLength: 1 })
    const include = fc.oneof(
      codes.map((some) => list(some)),
      fc.subarray(['Up', 'UP', 'down', 'Down', 'gone'], { minLength: 1 }).map((some) => folded(some)),
      fc.constantFrom('animal', 'cat', 'dog', 'plant', 'unicorn').map((code) => isA(code)),
      fc.constantFrom('a', 'b', 'c').map((code) => isA(code, 'many')),
      fc.constantFrom(whole, { system: cs('many') }, { system: cs('versioned') }),
    )
    const any = fc.record({ include: fc.array(include, { minLength: 1, maxLength: 3 }), inactive: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(any, any, async (mine, others) => {
        const scope = await terminologyScope(ctx)
        const planOf = async (compose: JsonObject) => makePlan(scope, await namedValueSet(ctx, { valueSet: valueSet('x', compose) }))
        const [a, b] = [await planOf(mine), await planOf(others)]
        const defined = await compareDefinitions(a, b, { pace: scope.pace, rules: NO_RULES, policy: 'as-needed' })
        if (defined === undefined) return
        const members = [finished(membersOf(scope, a)), finished(membersOf(scope, b))] as const
        const { common, missing, extra } = await compareMembers(scope, members, 'as-needed')
        const shown = JSON.stringify([mine, others])
        // Equal definitions are the same also when nothing is in them.
        expect({ missing: defined.missing, extra: defined.extra }, shown).toEqual({ missing, extra })
        if (missing || extra) expect(defined.common, shown).toBe(common)
      }),
      { numRuns: rounds({ quick: 100, all: 1_000 }) },
    )
  })
})

describe('$compare', () => {
  const parameters = (found: JsonObject): unknown => found['parameter']

  it('adds how it was found and the codes when diagnostics are asked for', async () => {
    const query = `thisUrl=${vs('branch')}&otherUrl=${vs('branch')}`
    const message = `The value sets ${vs('branch')} and ${vs('branch')} contain the same codes`
    expect(parameters(await callByGet(compareOperation, ctx, query))).toEqual([
      { name: 'result', valueCode: 'same' },
      { name: 'message', valueString: message },
    ])
    const resource = valueSet('other', { include: [list(['lion', 'dog'])] })
    const found = await call(compareOperation, ctx, [
      { name: 'thisUrl', valueUri: vs('branch') },
      { name: 'otherValueSet', resource },
      { name: 'diagnostics', valueBoolean: true },
    ])
    expect(parameters(found)).toEqual([
      { name: 'result', valueCode: 'overlapping' },
      { name: 'message', valueString: expect.stringContaining('some overlap') },
      { name: 'performed-expansion', valueBoolean: true },
      { name: 'common-codes', valueString: 'lion' },
      { name: 'missing-codes', valueString: 'cat' },
      { name: 'extra-codes', valueString: 'dog' },
    ])
  })

  it.each([
    [`thisUrl=${vs('branch')}`, 'parameter-required'],
    [`thisUrl=${vs('branch')}&otherUrl=${vs('gone')}`, 'not-found'],
    [`thisUrl=${vs('branch')}&otherUrl=${vs('branch')}&version-policy=sometimes`, 'parameter-value'],
  ])('%s is refused with %s', async (query, code) => {
    await expect(callByGet(compareOperation, ctx, query)).rejects.toMatchObject({ code })
  })
})

describe('an explained comparison', () => {
  const stepsOf = async (mine: JsonObject[], others: JsonObject[]): Promise<readonly string[]> => {
    const named = (include: JsonObject[]) => ({ valueSet: valueSet('x', { include }) })
    const { explanation } = await compare(ctx, { thisValueSet: named(mine), otherValueSet: named(others), explain: true })
    return (explanation?.steps ?? []).map(({ kind, outcome, text }) => `${kind} ${outcome}: ${text}`)
  }

  it('says what the definitions take of each code system', async () => {
    expect(await stepsOf([isA('animal'), { system: cs('many') }], [isA('cat'), { system: cs('many') }])).toEqual([
      expect.stringContaining('value-set chosen'),
      expect.stringContaining('value-set chosen'),
      `code-system fails: Of '${cs('living')}': the first takes more.`,
      `code-system holds: Of '${cs('many')}': both take the same codes.`,
      'value-set holds: The definitions show how the value sets relate.',
      expect.stringContaining('value-set fails: The valueSet http://example.org/vs/x is a super-set'),
    ])
  })

  it('says what the codes are where the definitions do not decide it', async () => {
    const steps = await stepsOf([isA('cat')], [list(['lion', 'dog'])])
    expect(steps).toContain(`code-system unknown: Of '${cs('living')}': the definitions alone do not decide it.`)
    expect(steps).toContain('value-set unknown: The definitions alone do not decide it, so all codes are compared.')
    expect(steps.join()).toContain(`Includes codes of '${cs('living')}' with 'concept' is-a 'cat': 2 codes.`)
    expect(steps.at(-1)).toMatch(/^value-set fails: .*: 1 code in both, 1 code in the first alone, 1 code in the second alone\.$/)
  })

  it('says why it is not known', async () => {
    const steps = await stepsOf([whole], [{ system: cs('part'), filter: [{ property: 'code', op: 'regex', value: 'p' }] }, isA('cat')])
    expect(steps.at(-1)).toMatch(/^value-set unknown: Unable to compare .* fragment/)
  })

  it('has the explanation as a last parameter over HTTP, and nothing of it when nobody asked', async () => {
    const query = `thisUrl=${vs('branch')}&otherUrl=${vs('branch')}`
    const names = async (more: string) =>
      objectsAt(await callByGet(compareOperation, ctx, `${query}${more}`), 'parameter').map(({ name }) => name)
    expect(await names('&_explain=true')).toEqual(['result', 'message', 'explanation'])
    expect(await names('')).toEqual(['result', 'message'])
  })
})

describe('value sets of very many parts', () => {
  const many = contextOf(
    codeSystem(
      'large',
      Array.from({ length: 20_000 }, (_, i) => ({ code: `c${i}` })),
    ),
    ...['these', 'those'].map((name, shift) =>
      valueSet(name, { include: Array.from({ length: 3_000 }, (_, i) => isA(`c${i + shift}`, 'large')) }),
    ),
  )

  it('cost as much as their parts, and not as every pair of them', async () => {
    const found = await compare(many, { thisValueSet: { url: vs('these') }, otherValueSet: { url: vs('those') } })
    expect(found.relationship).toBe('overlapping')
    expect(found.codes).toMatchObject({ missing: ['c0'], extra: ['c3000'] })
  })
})
