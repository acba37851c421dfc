import { createContext } from 'fhir-ops/context'
import { createBots, type HostBot } from 'fhir-ops/execute'
import type { JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import type { Operation } from 'fhir-ops/operation'
import { putResource } from 'fhir-ops/storage'
import { r4 } from '@fhir-ops/r4'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { OPERATIONS } from '../src/index.js'
import { fhirHeaders, send, startServer, type Reply, type RunningServer } from './running-server.js'

const criteria = { language: 'application/x-fhir-query', expression: 'Patient' }
const measure = (id: string): JsonObject => ({
  resourceType: 'Measure',
  id,
  url: `http://x/${id}`,
  status: 'active',
  group: [{ population: [{ code: { coding: [{ code: 'initial-population' }] }, criteria }] }],
})
/** One of each type that operations are called on or take as a subject, with the id `theirs`. */
const HIDDEN: readonly JsonObject[] = [
  { resourceType: 'ConceptMap', id: 'theirs', url: 'http://x/map', status: 'active' },
  { resourceType: 'ValueSet', id: 'theirs', url: 'http://x/set', status: 'active', compose: { include: [{ system: 'http://x' }] } },
  { resourceType: 'CodeSystem', id: 'theirs', url: 'http://x', status: 'active', content: 'complete', concept: [{ code: 'a' }] },
  { resourceType: 'StructureDefinition', id: 'theirs', url: 'http://x/sd', type: 'Patient', status: 'active' },
  measure('theirs'),
  { resourceType: 'Patient', id: 'theirs' },
  { resourceType: 'Practitioner', id: 'theirs' },
  { resourceType: 'Group', id: 'theirs', type: 'person', actual: true },
  { resourceType: 'Bot', id: 'theirs', code: 'export const handler = () => 1' },
  { resourceType: 'Binary', id: 'theirs', contentType: 'text/plain', data: 'eA==' },
]

const SHOWN: JsonObject = { resourceType: 'Patient', id: 'mine' }

/** An operation of a host that reads the resource as it is, without asking whether it may. */
const length: Operation = {
  name: '$length',
  types: 'any',
  levels: ['instance'],
  methods: ['GET'],
  definition: 'http://x/length',
  needs: { text: 'r on the type', anyOf: [{ action: 'read' }] },
  run: async ({ storage }, { type, id = '' }) => {
    const stored = await storage.read(type, id)
    return { status: 200, resource: { resourceType: 'Basic', code: { text: String(stored?.text.length) } } }
  },
}

/** Reads a patient for its caller. */
const reader: HostBot = { id: 'reader', run: async ({ query }, { storage }) => (await storage?.read('Patient', query['id'] ?? '')) ?? null }

let server: RunningServer
beforeAll(async () => {
  const { indexer, ...release } = r4()
  const storage = memoryStorage([...HIDDEN, measure('mine'), SHOWN], { indexer })
  await storage.write([putResource({ type: 'Measure', id: 'gone', source: measure('gone') }, indexer)])
  await storage.write([{ op: 'delete', type: 'Measure', id: 'gone' }])
  server = await startServer({
    storage,
    indexer,
    context: createContext({ storage, ...release }),
    operations: [...OPERATIONS, length],
    bots: createBots({ hostBots: [reader] }),
    grantBotStorage: true,
    policy: ({ id }) => (id === 'theirs' || id === 'gone' ? 'hide' : 'allow'),
  })
})
afterAll(() => server.stop())

const PERIOD = 'periodStart=2026&periodEnd=2026'

it.each<[string, object?]>([
  ['ConceptMap/:id/$translate?system=http://x&code=a'],
  ['ConceptMap/:id/$translate'],
  ['ConceptMap/:id/$translate?code=a&code=b'],
  ['ValueSet/:id/$expand'],
  ['ValueSet/:id/$expand?count=x'],
  ['ValueSet/:id/$validate-code?system=http://x&code=a'],
  ['ValueSet/:id/$validate-code'],
  ['ValueSet/:id/$compare?other=http://x/set'],
  ['CodeSystem/:id/$validate-code?code=a'],
  ['CodeSystem/:id/$subsumes?codeA=a&codeB=a'],
  ['StructureDefinition/:id/$snapshot'],
  [`Measure/:id/$evaluate-measure?${PERIOD}`],
  ['Measure/:id/$evaluate-measure'],
  [`Measure/:id/$data-requirements?${PERIOD}`],
  [`Measure/:id/$collect-data?${PERIOD}`],
  ['Measure/:id/$submit-data', { resourceType: 'Parameters' }],
  [`Measure/$evaluate-measure?${PERIOD}&measure=:id`],
  [`Measure/mine/$evaluate-measure?${PERIOD}&subject=Patient/:id`],
  [`Measure/mine/$evaluate-measure?${PERIOD}&subject=:id`],
  [`Measure/mine/$evaluate-measure?${PERIOD}&subject=Group/:id`],
  [`Measure/mine/$evaluate-measure?${PERIOD}&practitioner=Practitioner/:id`],
  [`Measure/mine/$collect-data?${PERIOD}&subject=Patient/:id`],
  ['Patient/:id/$validate'],
  ['Patient/:id/$validate?mode=delete'],
  ['Patient/:id/$validate?mode=nonsense'],
  ['Patient/:id/$validate?mode=update', { resourceType: 'Patient', id: ':id' }],
  ['Patient/:id/$validate?mode=update', { resourceType: 'Patient', id: ':id', meta: { versionId: '7' } }],
  ['Patient/$validate?mode=update', { resourceType: 'Patient', id: ':id', meta: { versionId: '7' } }],
  [
    'Observation/$validate?validateReferences=exists',
    { resourceType: 'Observation', status: 'final', code: { text: 'x' }, subject: { reference: 'Patient/:id' } },
  ],
  ['Patient/:id/$length'],
  ['Binary/:id/$length'],
  ['Binary/:id/$validate'],
  ['Bot/:id/$execute'],
  ['Bot/:id/$length'],
  ['Bot/reader/$execute?id=:id'],
  ['Patient/:id'],
  ['Patient/:id/_history'],
  ['Patient/:id/_history/1'],
  ['Bot/:id/_history/1'],
  ['Patient?_id=:id'],
])('%s says the same of a resource that a rule of the host hides as of one that does not exist', async (path, body) => {
  const asked = async (id: string): Promise<unknown> => {
    const text = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body).replaceAll(':id', id) }
    const reply = await send(`${server.base}/fhir/R4/${path.replaceAll(':id', id)}`, { headers: fhirHeaders(server.token), ...text })
    return shapeOf(reply, id)
  }
  const absent = await asked('absent')
  expect(await asked('theirs')).toEqual(absent)
  if (path.startsWith('Measure/:id/')) expect(await asked('gone')).toEqual(absent)
})

it.each(['theirs', 'absent'])(
  'a conditional create does not find what is hidden: with the id %s in its criteria, it creates',
  async (id) => {
    const headers = { ...fhirHeaders(server.token), 'if-none-exist': `_id=${id}` }
    const { status } = await send(`${server.base}/fhir/R4/Practitioner`, {
      method: 'POST',
      headers,
      body: '{"resourceType":"Practitioner"}',
    })
    expect(status).toBe(201)
  },
)

it.each([
  `$evaluate-measure?${PERIOD}`,
  `$evaluate-measure?${PERIOD}&reportType=subject-list`,
  `$evaluate-measure?${PERIOD}&_explain=true`,
  `$collect-data?${PERIOD}`,
])('Measure/:id/%s says the same where some subjects are hidden as where only the others exist', async (call) => {
  const asked = async (host: RunningServer): Promise<unknown> =>
    shapeOf(await send(`${host.base}/fhir/R4/Measure/mine/${call}`, { headers: fhirHeaders(host.token) }), 'theirs')
  const { indexer, ...release } = r4()
  const storage = memoryStorage([measure('mine'), SHOWN], { indexer })
  const empty = await startServer({ storage, indexer, context: createContext({ storage, ...release }), policy: () => 'allow' })
  try {
    expect(await asked(server)).toEqual(await asked(empty))
  } finally {
    await empty.stop()
  }
})

/** What a reply says, apart from generated ids, times and the id that was asked for. */
function shapeOf({ status, text }: Reply, id: string): unknown {
  return [status, text.replaceAll(/"(id|date|lastUpdated)":"[^"]+"/g, '').replaceAll(id, ':id')]
}
