import { createContext } from 'fhir-ops/context'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { createSessions } from 'fhir-ops/sessions'
import { r4 } from '@fhir-ops/r4'
import { expect, it } from 'vitest'
import { createHandler } from '../src/index.js'

const BASE = 'https://example.org/fhir/R4'
const criteria = { language: 'application/x-fhir-query', expression: `Encounter?subject=${BASE}/Patient/p` }
const MEASURE = {
  resourceType: 'Measure',
  id: 'm',
  status: 'active',
  group: [{ population: [{ code: { coding: [{ code: 'initial-population' }] }, criteria }] }],
}
const { indexer, ...release } = r4()
const storage = memoryStorage(
  [
    MEASURE,
    { resourceType: 'Patient', id: 'p', generalPractitioner: [{ reference: 'Practitioner/d' }] },
    { resourceType: 'Practitioner', id: 'd' },
    { resourceType: 'Encounter', id: 'e', status: 'finished', class: { code: 'AMB' }, subject: { reference: 'Patient/p' } },
  ],
  { indexer },
)
const context = createContext({ ...release, storage })
const handler = createHandler({
  context,
  baseUrl: 'https://example.org',
  auth: 'off',
  defaultPolicy: 'deny',
  sessions: createSessions({ store: memorySessionStore() }),
})

async function evaluated(query: string): Promise<readonly [number, unknown]> {
  const answer = await handler(new Request(`${BASE}/Measure/m/$evaluate-measure?periodStart=2026&periodEnd=2026&${query}`))
  const { group } = JSON.parse(await answer.text())
  return [answer.status, group?.[0].population[0].count]
}

it.each([`subject=${BASE}/Patient/p`, `subject=${BASE}/Practitioner/d`, `practitioner=${BASE}/Practitioner/d`, 'subject=Patient/p'])(
  "a measure is evaluated for %s, and its criteria may have the server's own base",
  async (query) => {
    expect(await evaluated(query)).toEqual([200, 1])
  },
)

it.each([`subject=https://example.com/fhir/R4/Patient/p`, `subject=${BASE}/`, `subject=${BASE}/Patient/p/_history/1`])(
  'a measure is not evaluated for %s',
  async (query) => {
    expect(await evaluated(query)).toEqual([400, undefined])
  },
)
