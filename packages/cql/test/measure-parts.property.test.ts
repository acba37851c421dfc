import { evaluateMeasurePart, mergeMeasureParts, type MeasurePart } from 'fhir-ops/evaluate'
import type { OperationContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { divided, expectWhole, fillWard } from './measure-parts.fixture.js'
import { contextOver, languagesOf, numRuns, PERIOD, putOf, SEED, MEASURES } from './ward.fixture.js'

const INPUT = { measure: 'Measure/proportion', ...PERIOD }

async function ward(): Promise<OperationContext> {
  const ctx = contextOver(memoryStorage())
  const people = Array.from({ length: 12 }, (_, n) => ({ id: `p${n}`, gender: 'female', birthDate: '1980' }))
  await fillWard(ctx, { people, visits: [], cancelled: [], of: 1 })
  return ctx
}

async function partsOf(ctx: OperationContext, of: number, input: object = {}): Promise<MeasurePart[]> {
  const languages = languagesOf()
  const numbers = Array.from({ length: of }, (_, n) => n + 1)
  return await Promise.all(numbers.map((part) => evaluateMeasurePart(ctx, { ...INPUT, ...input }, { part, of }, { languages })))
}

describe('parts of the subjects of a Measure', () => {
  it('come to what all subjects give, over memory', async () => {
    await fc.assert(
      fc.asyncProperty(divided, async (one) => {
        const ctx = contextOver(memoryStorage())
        await fillWard(ctx, one)
        await expectWhole(ctx, one.of)
      }),
      { numRuns: numRuns(10), ...SEED },
    )
  })

  it('divide the subjects about evenly, each into one', async () => {
    const ctx = await ward()
    const people = Array.from({ length: 400 }, (_, n) => ({ resourceType: 'Patient', id: `p${n}`, gender: 'male', birthDate: '1980' }))
    await ctx.storage.write(people.map(putOf))
    const parts = await partsOf(ctx, 4)
    const sizes = parts.map((part) => Number(JSON.parse(JSON.stringify(part)).counts[0].sums.groups[0].counts[0]))
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(400)
    expect(Math.min(...sizes)).toBeGreaterThan(60)
  })

  it('say how far they are', async () => {
    const ctx = await ward()
    const seen: (number | undefined)[] = []
    const languages = languagesOf()
    for (const part of [1, 2]) {
      let total: number | undefined
      const watched = { ...ctx, onProgress: (progress: { readonly total?: number | undefined }) => void (total = progress.total) }
      await evaluateMeasurePart(watched, INPUT, { part, of: 2 }, { languages })
      seen.push(total)
    }
    expect((seen[0] ?? 0) + (seen[1] ?? 0)).toBe(12)
  })

  it.each([
    ['a part is missing', (parts: readonly MeasurePart[]) => parts.slice(1), 'Part 1 of 3 is missing.'],
    ['a part comes twice', (parts: readonly MeasurePart[]) => [...parts, ...parts.slice(1, 2)], 'Part 2 of 3 is given twice.'],
    ['there is no part', () => [], 'Part 1 of 1 is missing.'],
    [
      'something else is given',
      () => [JSON.parse('{"resourceType":"MeasureReport"}')],
      'parts[0] is not what evaluateMeasurePart returns.',
    ],
    [
      'its counts are not numbers',
      (parts: readonly MeasurePart[]) =>
        JSON.parse(JSON.stringify(parts).replaceAll('"counts":[4', '"counts":["4"').replaceAll('"counts":[', '"counts":["x",')),
      'parts[0] is not what evaluateMeasurePart returns.',
    ],
  ])('are refused where %s', async (_, change: (parts: readonly MeasurePart[]) => readonly MeasurePart[], message) => {
    const ctx = await ward()
    const merging = mergeMeasureParts(ctx, INPUT, change(await partsOf(ctx, 3)), { languages: languagesOf() })
    await expect(merging).rejects.toMatchObject({ code: 'parameter-value', message })
  })

  it.each(['-1', '0.5', '1e300'])('are refused where a count is %s', async (number) => {
    const ctx = await ward()
    const text = JSON.stringify(await partsOf(ctx, 3)).replaceAll(/"counts":\[\d+/g, `"counts":[${number}`)
    const merging = mergeMeasureParts(ctx, INPUT, JSON.parse(text), { languages: languagesOf() })
    await expect(merging).rejects.toMatchObject({ code: 'parameter-value', message: 'parts[0] is not what evaluateMeasurePart returns.' })
  })

  it('of other evaluations are refused', async () => {
    const ctx = await ward()
    const languages = languagesOf()
    const own = await partsOf(ctx, 2)
    const others = [
      await partsOf(ctx, 2, { periodEnd: '2021' }),
      await partsOf(ctx, 2, { reportType: 'subject-list' }),
      await partsOf(ctx, 2, { measure: 'Measure/visited' }),
    ]
    for (const other of others)
      await expect(mergeMeasureParts(ctx, INPUT, [...own.slice(0, 1), ...other.slice(1)], { languages })).rejects.toThrow(
        'Part 2 is of another evaluation',
      )
    await expect(mergeMeasureParts(ctx, INPUT, [...own.slice(0, 1), ...(await partsOf(ctx, 3)).slice(1)], { languages })).rejects.toThrow(
      'Part 2 is one of 3',
    )
    const [changed] = MEASURES
    if (changed !== undefined) await ctx.storage.write([putOf({ ...changed, title: 'Another' })])
    await expect(mergeMeasureParts(ctx, INPUT, own, { languages })).rejects.toThrow('Part 1 is of another evaluation')
  })

  it.each([
    [{ part: 0, of: 2 }, {}, 'parameter-value'],
    [{ part: 3, of: 2 }, {}, 'parameter-value'],
    [{ part: 1, of: 1_001 }, {}, 'parameter-value'],
    [{ part: 1.5, of: 2 }, {}, 'parameter-value'],
    [{ part: 1, of: 2 }, { subject: 'Patient/p1' }, 'parameter-unsupported'],
    [{ part: 1, of: 2 }, { coverage: true }, 'parameter-unsupported'],
    [{ part: 1, of: 2 }, { explain: true }, 'parameter-unsupported'],
  ])('%j of %j is refused', async (part, more, code) => {
    const evaluating = evaluateMeasurePart(await ward(), { ...INPUT, ...more }, part, { languages: languagesOf() })
    await expect(evaluating).rejects.toMatchObject({ code })
  })
})
