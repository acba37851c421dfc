import { createLiveMeasure, watchMeasure } from 'fhir-ops/evaluate'
import { memoryStorage } from 'fhir-ops/memory'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  contextOver,
  counting,
  entryOf,
  expectAgreement,
  languagesOf,
  library,
  MEASURES,
  numRuns,
  PERIOD,
  putOf,
  rounds,
  SEED,
  TEXT,
  valueSet,
} from './ward.fixture.js'

describe('a live measure', () => {
  it('counts what a new evaluation does, after whatever was written, over memory', async () => {
    await fc.assert(
      fc.asyncProperty(rounds, (all) => expectAgreement(contextOver(memoryStorage()), all)),
      { numRuns: numRuns(2), ...SEED },
    )
  })

  it('evaluates only the patients of whom something changed', async () => {
    let now = Date.UTC(2026, 0, 1)
    const counts = counting(memoryStorage([], { now: () => new Date((now += 1_000)) }))
    const ctx = contextOver(counts.storage)
    const people = Array.from({ length: 40 }, (_, n) =>
      putOf({ resourceType: 'Patient', id: `p${n}`, gender: 'female', birthDate: '1980-01-01' }),
    )
    await ctx.storage.write([...[library(TEXT), valueSet(['a']), ...MEASURES].map(putOf), ...people])
    const live = createLiveMeasure(ctx, { measure: 'Measure/proportion', ...PERIOD }, { languages: languagesOf() })
    const seen: number[] = []
    const evaluated = async (): Promise<void> => {
      await live.evaluate()
      seen.push(counts.scanned())
    }
    await evaluated()
    await evaluated()
    const visit = { kind: 'visit', id: 'e1', status: 'finished', code: 'a', year: '2020' } as const
    await ctx.storage.write([entryOf({ ...visit, patient: 'p1' })])
    await evaluated()
    await ctx.storage.write([entryOf({ ...visit, patient: 'p2' })])
    await evaluated()
    await ctx.storage.write([putOf(valueSet(['b']))])
    await evaluated()
    expect(seen).toEqual([40, 0, 1, 2, 40])
  })

  it('keeps nothing beyond its memory', async () => {
    const counts = counting(memoryStorage())
    const ctx = contextOver(counts.storage)
    const people = Array.from({ length: 10 }, (_, n) =>
      putOf({ resourceType: 'Patient', id: `p${n}`, gender: 'female', birthDate: '1980-01-01' }),
    )
    await ctx.storage.write([...[library(TEXT), valueSet(['a']), ...MEASURES].map(putOf), ...people])
    const options = { languages: languagesOf(), maxKeptBytes: 500 }
    const live = createLiveMeasure(ctx, { measure: 'Measure/visited', ...PERIOD }, options)
    await live.evaluate()
    await live.evaluate()
    expect(counts.scanned()).toBe(20)
  })

  it('is watched: another report comes when the counts have changed', async () => {
    const ctx = contextOver(memoryStorage())
    await ctx.storage.write([library(TEXT), valueSet(['a']), ...MEASURES, { resourceType: 'Patient', id: 'p1' }].map(putOf))
    const options = { languages: languagesOf(), everyMs: 1 }
    const counts: (number | undefined)[] = []
    for await (const { groups } of watchMeasure(ctx, { measure: 'Measure/visited', ...PERIOD }, options)) {
      counts.push(groups[0]?.populations[0]?.count)
      if (counts.length === 2) break
      await ctx.storage.write([
        entryOf({ kind: 'visit', id: 'e1', patient: 'p1', status: 'finished', code: 'b', year: '2020' }),
        entryOf({ kind: 'visit', id: 'e2', patient: 'p1', status: 'finished', code: 'a', year: '2020' }),
      ])
    }
    expect(counts).toEqual([0, 1])
  })
})
