import { afterAll, describe, expect, test } from 'vitest'
import { testDatabase } from '../../../postgres/test/test-database.js'
import { started } from './running-example.js'

const database = await testDatabase()
const schema = await database.schema()
afterAll(async () => {
  await schema.drop()
  await database.remove()
})

describe.skipIf(schema.url === undefined)('two processes of the cluster example over one PostgreSQL (needs a PostgreSQL server)', () => {
  const instances = () => Promise.all([1, 2].map(() => started('cluster', { DATABASE_URL: schema.url ?? '' })))

  test('a logout at one is refused at the other by the next request', async () => {
    const [a, b] = await instances()
    if (a === undefined || b === undefined) throw new Error('An instance did not start.')
    const user = async (url: string) => (await fetch(`${url}/oauth2/userinfo`, { headers: a.headers })).status
    expect([await user(a.url), await user(b.url)]).toEqual([200, 200])
    expect((await fetch(`${a.url}/oauth2/logout`, { method: 'POST', headers: a.headers })).status).toBeLessThan(300)
    expect([await user(b.url), await user(a.url)]).toEqual([401, 401])
    expect((await fetch(`${b.url}/oauth2/userinfo`, { headers: b.headers })).status).toBe(200)
  })

  test('what one stores the other expands at once', async () => {
    const [a, b] = await instances()
    if (a === undefined || b === undefined) throw new Error('An instance did not start.')
    const headers = { ...a.headers, 'content-type': 'application/fhir+json' }
    const include = [{ system: 'http://hl7.org/fhir/administrative-gender', concept: [{ code: 'female' }] }]
    const body = JSON.stringify({
      resourceType: 'ValueSet',
      id: 'women',
      url: 'http://example.org/women',
      status: 'active',
      compose: { include },
    })
    expect((await fetch(`${a.url}/fhir/R4/ValueSet/women`, { method: 'PUT', headers, body })).status).toBe(201)
    const answer = await fetch(`${b.url}/fhir/R4/ValueSet/$expand?url=http://example.org/women`, { headers })
    expect(await answer.json()).toMatchObject({ expansion: { contains: [{ code: 'female' }] } })
  })
})
