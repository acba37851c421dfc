import { expect, it } from 'vitest'
import { sharedDatabase, UNHURRIED } from '../test/test-database.js'
import { openPostgres } from './index.js'

const database = await sharedDatabase()

it('an import that was given up goes with the next one, one under way stays', async () => {
  const schema = await database.schema()
  const pool = schema.pool()
  const { concepts: store, close } = await openPostgres(pool, UNHURRIED)
  const stage = async (version: string): ReturnType<typeof store.stage> => {
    const staged = await store.stage({ url: 'urn:test:system', version, format: 'test', concepts: 1, header: '{}' })
    await staged.put('a', Uint8Array.of(1))
    return staged
  }
  const client = await pool.connect()
  const query = async (text: string): Promise<readonly unknown[]> => (await client.query({ text, values: [], query_timeout: 0 })).rows
  const [givenUp, underWay] = [await stage('1'), await stage('2')]
  await query("UPDATE fhir_system SET staged_at = now() - interval '25 hours' WHERE version = '1'")
  await stage('3')
  expect(await query('SELECT system FROM fhir_section')).toHaveLength(2)
  client.release()
  await expect(givenUp.publish()).rejects.toMatchObject({ code: 'conflict' })
  expect(await underWay.publish()).toMatchObject({ version: '2' })
  await close()
  await schema.drop()
})
