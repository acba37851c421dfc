import { createHandler, OPERATIONS } from '@fhir-ops/handler'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { evaluateMeasure, evaluateMeasureOperation } from 'fhir-ops/evaluate'
import { createSessions } from 'fhir-ops/sessions'
import { tenantStorage } from 'fhir-ops/tenants'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  contextOver,
  counting,
  entryOf,
  expectKeptAgreement,
  languagesOf,
  library,
  MEASURES,
  numRuns,
  PERIOD,
  putOf,
  rounds,
  SEED,
  TEXT,
  translatedLibrary,
  type Json,
  valueSet,
} from './ward.fixture.js'

const people = (count: number): readonly ReturnType<typeof putOf>[] =>
  Array.from({ length: count }, (_, n) => putOf({ resourceType: 'Patient', id: `p${n}`, gender: 'female', birthDate: '1980-01-01' }))
const DEFINITIONS = [library(TEXT), valueSet(['a']), ...MEASURES].map(putOf)
const visit = { kind: 'visit', id: 'e1', status: 'finished', code: 'a', year: '2020' } as const
const cohortOf = (expression: string): Json => ({
  resourceType: 'Measure',
  id: 'whole',
  status: 'active',
  library: ['http://x/Library/Ward'],
  scoring: { coding: [{ code: 'cohort' }] },
  group: [
    { population: [{ code: { coding: [{ code: 'initial-population' }] }, criteria: { language: 'text/cql-identifier', expression } }] },
  ],
})

describe('a population that is kept', () => {
  it('counts what a new evaluation does, after whatever was written, over memory', async () => {
    await fc.assert(
      fc.asyncProperty(rounds, (all) => expectKeptAgreement(contextOver(memoryStorage()), all)),
      { numRuns: numRuns(3), ...SEED },
    )
  })

  it('counts what a new evaluation does for a tenant, whatever others write', async () => {
    await fc.assert(
      fc.asyncProperty(rounds, async (all) => {
        const storage = memoryStorage()
        const other = contextOver(tenantStorage(storage, 'other'))
        await expectKeptAgreement(contextOver(tenantStorage(storage, 'own')), all, async (changes) => {
          if (changes.length > 0) await other.storage.write(changes.toReversed().map(entryOf))
        })
      }),
      { numRuns: numRuns(2), ...SEED },
    )
  })

  it('is read once for all periods and for all measures of the same data, and then only where something changed', async () => {
    const { storage, scanned } = counting(memoryStorage())
    const ctx = contextOver(storage)
    await storage.write([...DEFINITIONS, ...people(40)])
    const languages = languagesOf(1_000_000)
    const seen: number[] = []
    const evaluated = async (measure: string, year = '2020'): Promise<void> => {
      await evaluateMeasure(
        ctx,
        { measure: `Measure/${measure}`, periodStart: year, periodEnd: year, reportType: 'subject-list' },
        { languages },
      )
      seen.push(scanned())
    }
    await evaluated('proportion')
    await evaluated('proportion', '2019')
    await evaluated('visits')
    await storage.write([entryOf({ ...visit, patient: 'p1' })])
    await evaluated('proportion')
    await storage.write([entryOf({ ...visit, patient: 'p2' }), entryOf({ ...visit, id: 'e2', patient: 'p3' })])
    await evaluated('proportion')
    await storage.write([putOf({ resourceType: 'Observation', id: 'o1', status: 'final', code: {}, subject: { reference: 'Patient/p1' } })])
    await evaluated('visited')
    expect(seen).toEqual([40, 0, 0, 1, 3, 0])
  })

  it.each([
    ['all', ['system/*.rs']],
    ['some types', ['Measure', 'Library', 'ValueSet', 'Patient', 'Encounter'].map((type) => `system/${type}.rs`)],
  ])('is kept from request to request of a handler, for who may read %s', async (_, scopes) => {
    const { storage, scanned } = counting(memoryStorage())
    await storage.write([...DEFINITIONS, ...people(40)])
    const sessions = createSessions({ store: memorySessionStore() })
    const context = contextOver(storage)
    const handler = createHandler({
      context: { ...context, limits: { ...context.limits, operationTimeoutMs: 600_000 } },
      sessions,
      baseUrl: 'http://x',
      defaultPolicy: 'deny',
      operations: OPERATIONS.map((operation) =>
        operation.name === '$evaluate-measure' ? evaluateMeasureOperation({ languages: languagesOf(1_000_000) }) : operation,
      ),
    })
    const user = { sub: 'ann', name: 'Ann', given_name: 'Ann', family_name: 'X', preferred_username: 'ann', email: 'ann@x.example' }
    const { token } = await sessions.create({ user, scopes })
    const seen: unknown[] = []
    for (const year of ['2020', '2019']) {
      const url = `http://x/fhir/R4/Measure/proportion/$evaluate-measure?periodStart=${year}&periodEnd=${year}`
      const { status } = await handler(new Request(url, { headers: { authorization: `Bearer ${token}` } }))
      seen.push([status, scanned()])
    }
    expect(seen).toEqual([
      [200, 40],
      [200, 0],
    ])
    await handler.close()
  })

  it('is not kept beyond the memory', async () => {
    const { storage, scanned } = counting(memoryStorage())
    const ctx = contextOver(storage)
    await storage.write([...DEFINITIONS, ...people(40)])
    const languages = languagesOf(2_000)
    const input = { measure: 'Measure/proportion', ...PERIOD }
    const counts: (number | undefined)[] = []
    for (let time = 0; time < 3; time++)
      counts.push((await evaluateMeasure(ctx, input, { languages })).groups[0]?.populations[0]?.count, scanned())
    // The first time some of it was read before it was known to be too much.
    expect(counts).toEqual([40, 80, 40, 40, 40, 40])
  })

  it('gives way to that of another storage which is asked for later', async () => {
    const [one, other] = [counting(memoryStorage()), counting(memoryStorage())]
    await one.storage.write([...DEFINITIONS, ...people(40)])
    await other.storage.write([...DEFINITIONS, ...people(40)])
    const languages = languagesOf(20_000)
    const read: number[] = []
    for (const { storage, scanned } of [one, one, other, other, one]) {
      await evaluateMeasure(contextOver(storage), { measure: 'Measure/proportion', ...PERIOD }, { languages })
      read.push(scanned())
    }
    expect(read).toEqual([40, 0, 40, 0, 40])
  })

  it('has resources as a whole where a result is made of them', async () => {
    const text = `${TEXT}define Whole: [Encounter] E return Tuple { visit: E }`
    const ctx = contextOver(memoryStorage())
    const visited = { ...visit, patient: 'p1' }
    await ctx.storage.write([library(text), cohortOf('Whole'), valueSet(['a'])].map(putOf))
    await ctx.storage.write([...people(2), entryOf(visited)])
    const input = { measure: 'Measure/whole', ...PERIOD, reportType: 'subject-list' } as const
    const membersOf = async (languages: ReturnType<typeof languagesOf>): Promise<unknown> =>
      (await evaluateMeasure(ctx, input, { languages })).groups.flatMap(({ populations }) => populations.flatMap(({ members }) => members))
    const keeping = languagesOf(1_000_000)
    const fresh = await membersOf(languagesOf(0))
    expect(JSON.stringify(fresh)).toContain('AMB')
    expect([await membersOf(keeping), await membersOf(keeping)]).toEqual([fresh, fresh])
  })

  it('is whole for who waits for what is read while another one takes its memory', async () => {
    const [one, other] = [memoryStorage(), memoryStorage()]
    for (const storage of [one, other]) await storage.write([...DEFINITIONS, ...people(40)])
    const languages = languagesOf(20_000)
    const input = { measure: 'Measure/proportion', ...PERIOD }
    const countOver = async (storage: typeof one): Promise<number | undefined> =>
      (await evaluateMeasure(contextOver(storage), input, { languages })).groups[0]?.populations[0]?.count
    await countOver(one)
    await one.write([entryOf({ ...visit, patient: 'p1' })])
    const interrupted: typeof one = one
    const scan = one.scan?.bind(one)
    Object.assign(interrupted, {
      scan: async (query: Parameters<NonNullable<typeof scan>>[0]) => {
        await countOver(other)
        return await scan?.(query)
      },
    })
    expect(await countOver(interrupted)).toBe(40)
  })

  it('has of each element what a name means where it stands', async () => {
    const condition = "exists (E.type Q where Q.coding.code contains 'a') and E.status = 'finished'"
    const elm = JSON.stringify(await translatedLibrary(`${TEXT}define Named: [Encounter] E where ${condition}`))
    const data = /"data":"([^"]*)"/.exec(elm)?.[1] ?? ''
    const ctx = contextOver(memoryStorage())
    await ctx.storage.write(
      [JSON.parse(elm.replace(data, btoa(atob(data).replaceAll('"Q"', '"E"')))), cohortOf('Named'), valueSet(['a'])].map(putOf),
    )
    await ctx.storage.write([...people(2), entryOf({ ...visit, patient: 'p1' }), entryOf({ ...visit, id: 'e2', code: 'b', patient: 'p1' })])
    const languages = languagesOf(1_000_000)
    for (const year of ['2020', '2021']) {
      const input = { measure: 'Measure/whole', periodStart: year, periodEnd: year, reportType: 'subject-list' } as const
      const { groups } = await evaluateMeasure(ctx, input, { languages })
      expect(groups[0]?.populations[0]?.members).toEqual(['Encounter/e1'])
    }
  })

  it('is shown only to who may search it', async () => {
    const ctx = contextOver(memoryStorage())
    await ctx.storage.write([...DEFINITIONS, ...people(3)])
    const languages = languagesOf(1_000_000)
    const input = { measure: 'Measure/proportion', ...PERIOD }
    await evaluateMeasure(ctx, input, { languages })
    for (const hidden of ['Encounter', 'Patient']) {
      const authorize = (_: string, type: string): void => {
        if (type === hidden) throw new RangeError(`${type} is not shown`)
      }
      await expect(evaluateMeasure({ ...ctx, authorize }, input, { languages })).rejects.toThrow(`${hidden} is not shown`)
    }
  })
})
