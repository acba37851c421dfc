import { createContext } from 'fhir-ops/context'
import { createBots, type BotEvent } from 'fhir-ops/execute'
import { memoryStorage } from 'fhir-ops/memory'
import { r4 } from '@fhir-ops/r4'
import type { CorsOptions, HandlerOptions } from '../src/index.js'
import { startServer, type RunningServer } from './running-server.js'

/** The code system of the content. */
export const SYSTEM = 'http://a.example/cs'

/** Where tokens come from, as the service was told. */
export const ISSUER = {
  issuer: 'https://issuer.example',
  authorization_endpoint: 'https://issuer.example/authorize',
  token_endpoint: 'https://issuer.example/token',
} as const

const concepts = [
  { code: 'a', display: 'Alpha' },
  { code: 'b', display: 'Beta' },
]
const STORED = [
  { resourceType: 'CodeSystem', id: 'cs', url: SYSTEM, status: 'active', content: 'complete', concept: concepts },
  { resourceType: 'ValueSet', id: 'vs', url: 'http://a.example/vs', status: 'active', compose: { include: [{ system: SYSTEM }] } },
  {
    resourceType: 'ConceptMap',
    id: 'cm',
    url: 'http://a.example/cm',
    status: 'active',
    group: [{ source: SYSTEM, target: 'urn:t', element: [{ code: 'a', target: [{ code: 'x', equivalence: 'equal' }] }] }],
  },
  {
    resourceType: 'Measure',
    id: 'm',
    url: 'http://a.example/m',
    status: 'active',
    group: [
      {
        population: [
          { code: { coding: [{ code: 'measure-population' }] }, criteria: { language: 'application/x-fhir-query', expression: 'Patient' } },
        ],
      },
    ],
  },
  { resourceType: 'Patient', id: 'p', active: true, name: [{ family: 'Lovell' }] },
  { resourceType: 'Observation', id: 'o', status: 'final', code: { text: 'x' }, subject: { reference: 'Patient/p' } },
] as const

/** Starts a server with content that clients of others call, over all of R4 and for pages of all origins. */
export async function calledServer(
  cors: CorsOptions = { origins: ['*'] },
  options: Partial<HandlerOptions> = { smartConfiguration: ISSUER, gzipRequests: true },
): Promise<RunningServer> {
  const release = r4()
  const storage = memoryStorage(STORED, { indexer: release.indexer })
  const hostBots = [{ id: 'echo', run: ({ input }: BotEvent) => input }]
  const running = await startServer({
    storage,
    context: createContext({ storage, ...release }),
    bots: createBots({ hostBots }),
    cors,
    ...options,
  })
  // The index of definitions is made once, which takes a while where many tests run at once.
  const headers = { authorization: `Bearer ${running.token}` }
  await running.handler(new Request(`${running.base}/fhir/R4/StructureDefinition?_count=1`, { headers }))
  return running
}
