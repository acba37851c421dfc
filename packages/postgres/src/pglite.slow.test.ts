import { PGlite } from '@electric-sql/pglite'
import { expect, test } from 'vitest'
import { pglitePool, openPostgres, type OpenPostgresOptions } from './index.js'

test('a PGlite is refused by name, and works behind its pool', async () => {
  const db = await PGlite.create()
  await expect(Reflect.apply(openPostgres, undefined, [db])).rejects.toThrow('Pass pglitePool(db) of @fhir-ops/postgres.')
  const options: OpenPostgresOptions = { notify: false, allowLossyCommits: true }
  const { storage, close } = await openPostgres(pglitePool(db), options)
  const text = '{"resourceType":"Basic","id":"a","meta":{}}'
  await Promise.all(['1', '2', '3'].map(async () => storage.write([{ op: 'put', type: 'Basic', id: 'a', text, entries: [] }])))
  expect((await storage.read('Basic', 'a'))?.versionId).toBe('3')
  await close()
  expect((await db.query('SELECT count(*)::int AS n FROM fhir_version')).rows).toEqual([{ n: 2 }])
  await db.close()
})
