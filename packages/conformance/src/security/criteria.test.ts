import { createContext } from 'fhir-ops/context'
import { evaluateMeasure } from 'fhir-ops/evaluate'
import { putResource } from 'fhir-ops/storage'
import { r4 } from '@fhir-ops/r4'
import { openSqlite } from '@fhir-ops/sqlite'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../sqlite/test/temporary-folder.js'

const FAMILIES = ['Lovell', "O'Brien", '100%', 'under_score', 'back\\slash', '"quoted"', 'x; DROP TABLE resource; --']

test('a value in criteria is a value: quotes, wildcards and statements count what is written so', async () => {
  const folder = await temporaryFolder()
  const { storage, close } = await openSqlite(folder.file('data.db'))
  const { indexer, ...release } = r4()
  const patients = FAMILIES.map((family, n) => ({ resourceType: 'Patient', id: `p${n}`, name: [{ family }] }))
  await storage.write(patients.map((source) => putResource({ type: 'Patient', id: source.id, source }, indexer)))
  const ctx = createContext({ storage, ...release })
  const counted = async (query: string): Promise<number | undefined> => {
    const population = { code: { text: 'all' }, criteria: { language: 'application/x-fhir-query', expression: `Patient?${query}` } }
    const source = { resourceType: 'Measure', id: 'm', status: 'active', group: [{ population: [population] }] }
    await storage.write([putResource({ type: 'Measure', id: 'm', source }, indexer)])
    const { groups } = await evaluateMeasure(ctx, { measure: 'm', periodStart: '2026', periodEnd: '2026' })
    return groups[0]?.populations[0]?.count
  }
  for (const family of FAMILIES) expect([family, await counted(`family:exact=${encodeURIComponent(family)}`)]).toEqual([family, 1])
  for (const value of ['%', '_', "' OR '1'='1", "x' OR 1=1 --", '[a-z]', '*']) {
    expect([value, await counted(`family=${encodeURIComponent(value)}`)]).toEqual([value, 0])
  }
  expect(await counted('')).toBe(FAMILIES.length)
  await close()
  await folder.remove()
})
