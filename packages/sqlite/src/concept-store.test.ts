import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { sqliteConceptStore } from './index.js'

it('an import that was given up goes with the next one, one under way stays', async () => {
  const db = new DatabaseSync(':memory:')
  const store = sqliteConceptStore(db)
  const stage = async (version: string): ReturnType<typeof store.stage> => {
    const staged = await store.stage({ url: 'urn:test:system', version, format: 'test', concepts: 1, header: '{}' })
    await staged.put('a', Uint8Array.of(1))
    return staged
  }
  const sections = (): unknown => db.prepare('SELECT count(*) AS n FROM system_section').get()?.['n']
  const [givenUp, underWay] = [await stage('1'), await stage('2')]
  db.exec("UPDATE stored_system SET staged_at = unixepoch() - 90000 WHERE version = '1'")
  await stage('3')
  expect(sections()).toBe(2)
  await expect(givenUp.publish()).rejects.toMatchObject({ code: 'conflict' })
  expect(await underWay.publish()).toMatchObject({ version: '2' })
})
