import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rounds } from '../../../../test/effort.js'
import { codeSystem, contextOf, cs, valueSet, vs } from '../../test/terminology-content.js'
import type { JsonObject } from '../json/index.js'
import { expand } from './expand.js'
import type { ExpansionEntry } from './result.js'

/** Concepts c0, c1 ... each under an earlier one or none; some inactive; with a property `p`. */
interface Concept {
  readonly parent: number
  readonly inactive: boolean
  readonly p: string
}

const SIZE = 12
const concepts: fc.Arbitrary<readonly Concept[]> = fc.array(
  fc.record({ parent: fc.integer({ min: -1, max: SIZE }), inactive: fc.boolean(), p: fc.constantFrom('x', 'y', '') }),
  { minLength: 1, maxLength: SIZE },
)

type Part =
  | { readonly kind: 'all' }
  | { readonly kind: 'list'; readonly codes: readonly number[] }
  | { readonly kind: 'is-a' | 'is-not-a' | 'generalizes'; readonly of: number }
  | { readonly kind: 'p'; readonly value: string }

const part: fc.Arbitrary<Part> = fc.oneof(
  fc.constant({ kind: 'all' } as const),
  fc.record({ kind: fc.constant('list' as const), codes: fc.uniqueArray(fc.nat(SIZE + 1), { maxLength: 6 }) }),
  fc.record({ kind: fc.constantFrom('is-a' as const, 'is-not-a' as const, 'generalizes' as const), of: fc.nat(SIZE - 1) }),
  fc.record({ kind: fc.constant('p' as const), value: fc.constantFrom('x', 'y', 'z') }),
)

const definition = fc.record({
  concepts,
  include: fc.array(part, { minLength: 1, maxLength: 3 }),
  exclude: fc.array(part, { maxLength: 2 }),
  imported: fc.option(part),
  activeOnly: fc.boolean(),
})

function parentOf(list: readonly Concept[], i: number): number {
  const parent = list[i]?.parent ?? -1
  return parent < i ? parent : -1
}

function isA(list: readonly Concept[], i: number, ancestor: number): boolean {
  for (let at = i; at >= 0; at = parentOf(list, at)) if (at === ancestor) return true
  return false
}

function selects(list: readonly Concept[], rule: Part, i: number): boolean {
  switch (rule.kind) {
    case 'all':
      return true
    case 'list':
      return rule.codes.includes(i)
    case 'is-a':
      return isA(list, i, rule.of)
    case 'is-not-a':
      return !isA(list, i, rule.of)
    case 'generalizes':
      return rule.of < list.length && isA(list, rule.of, i)
    case 'p':
      return list[i]?.p === rule.value
  }
}

function partElement(rule: Part): JsonObject {
  const system = cs('random')
  if (rule.kind === 'all') return { system }
  if (rule.kind === 'list') return { system, concept: rule.codes.map((i) => ({ code: `c${i}` })) }
  if (rule.kind === 'p') return { system, filter: [{ property: 'p', op: '=', value: rule.value }] }
  return { system, filter: [{ property: 'concept', op: rule.kind, value: `c${rule.of}` }] }
}

function systemOf(list: readonly Concept[]): JsonObject {
  const property = (i: number, { inactive, p }: Concept): readonly JsonObject[] => [
    ...(parentOf(list, i) >= 0 ? [{ code: 'parent', valueCode: `c${parentOf(list, i)}` }] : []),
    ...(inactive ? [{ code: 'inactive', valueBoolean: true }] : []),
    ...(p === '' ? [] : [{ code: 'p', valueCode: p }]),
  ]
  const concept = list.map((one, i) => ({ code: `c${i}`, display: `Concept ${i}`, property: property(i, one) }))
  return codeSystem('random', concept, { property: [{ code: 'p', type: 'code' }] })
}

function flat(entries: readonly ExpansionEntry[]): readonly string[] {
  return entries.flatMap(({ code, contains }) => [code, ...flat(contains)])
}

describe('an expansion', () => {
  it('has the codes that a naive reading of the definition has, each once, on every kind of page', async () => {
    await fc.assert(
      fc.asyncProperty(
        definition,
        fc.integer({ min: 1, max: 4 }),
        async ({ concepts: list, include, exclude, imported, activeOnly }, count) => {
          const elements = include.map((rule) => ({ ...partElement(rule), ...(imported !== null && { valueSet: [vs('imported')] }) }))
          const ctx = contextOf(
            systemOf(list),
            valueSet('imported', { include: [partElement(imported ?? { kind: 'all' })] }),
            valueSet('random', { include: elements, exclude: exclude.map(partElement), inactive: !activeOnly }),
          )
          const expected = list
            .map((_, i) => i)
            .filter((i) => include.some((rule) => selects(list, rule, i)) && !exclude.some((rule) => selects(list, rule, i)))
            .filter((i) => (imported === null || selects(list, imported, i)) && !(activeOnly && list[i]?.inactive === true))
            .map((i) => `c${i}`)
          const whole = await expand(ctx, { url: vs('random'), excludeNested: true })
          const codes = flat(whole.contains)
          expect([...codes].sort()).toEqual([...expected].sort())
          expect(whole.total).toBe(expected.length)
          const nested = await expand(ctx, { url: vs('random') })
          expect([flat(nested.contains), nested.total]).toEqual([codes, expected.length])
          const pages: string[] = []
          for (let offset = 0; offset < expected.length + count; offset += count) {
            const page = await expand(ctx, { url: vs('random'), offset, count })
            expect([page.total, page.offset]).toEqual([expected.length, offset])
            pages.push(...flat(page.contains))
          }
          expect(pages).toEqual(codes)
        },
      ),
      { numRuns: rounds({ quick: 60, all: 250 }) },
    )
  })
})
