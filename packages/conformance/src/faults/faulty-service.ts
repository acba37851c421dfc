import { openBotSandbox } from '@fhir-ops/bot-sandbox'
import { createHandler } from '@fhir-ops/handler'
import { r4 } from '@fhir-ops/r4'
import { createContext } from 'fhir-ops/context'
import { createBots } from 'fhir-ops/execute'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { createSessions } from 'fhir-ops/sessions'
import { allMatches, type Storage } from 'fhir-ops/storage'
import { faulty, type Fault } from './faulty.js'

/** One request of a test. */
export interface Sent {
  readonly method: string
  readonly path: string
  readonly body?: object
}

/** The session of a request: that of the tests, or another one of the same user. */
export type Token = 'own' | 'other'

/** A service with a fault. */
interface FaultyService {
  call(sent: Sent, token?: Token): Promise<{ readonly status: number; readonly text: string }>
  /** The texts of all stored resources. */
  resources(): Promise<readonly string[]>
}

const BASE = 'http://fhir.example.org'
const NOW = new Date('2026-01-01T00:00:00Z')
const { indexer, ...release } = r4()
const runtime = openBotSandbox({ workers: 1 })
const bots = createBots({ runtime })

/** Closes the runtime that all services share. */
export const closeRuntime = async (): Promise<void> => runtime.close()

/** The whole service over memory, with a fault in its storage and in its session store. Time and ids are always the same. */
export async function faultyService(fault: Fault): Promise<FaultyService> {
  const storage = memoryStorage(CONTENT, { indexer, now: () => NOW })
  const store = memorySessionStore()
  const sessions = createSessions({ store })
  const own = await sessions.create({ user: 'ann', scopes: ['openid', 'system/*.cruds', 'system/Bot.cruds'] })
  const other = await sessions.create({ user: 'ann', scopes: ['openid'] })
  const handler = createHandler({
    context: createContext({ storage: faulty(storage, fault), ...release, now: () => NOW, newId: () => 'new-id' }),
    sessions: createSessions({ store: faulty(store, fault) }),
    indexer,
    bots,
    baseUrl: BASE,
    defaultPolicy: 'deny',
  })
  const call: FaultyService['call'] = async ({ method, path, body }, token = 'own') => {
    const bearer = { own, other }[token].token
    const headers = {
      authorization: `Bearer ${bearer}`,
      'content-type': path.startsWith('/auth') ? 'application/json' : 'application/fhir+json',
    }
    const sent = body === undefined ? null : JSON.stringify(body).replaceAll('OTHER-SESSION', other.loginId)
    const answer = await handler(new Request(BASE + path, { method, headers, body: sent }))
    return { status: answer.status, text: await answer.text() }
  }
  return { call, resources: async () => resourcesIn(storage) }
}

/** The texts of all stored resources. */
async function resourcesIn(storage: Storage): Promise<readonly string[]> {
  const texts: string[] = []
  for (const type of new Set(['Patient', 'Observation', ...CONTENT.map(({ resourceType }) => resourceType)])) {
    for await (const { text } of allMatches(storage, { type, where: { kind: 'and', conditions: [] } })) texts.push(text)
  }
  return texts
}

const SYSTEM = 'http://example.org/colours'
const VALUE_SET = 'http://example.org/warm'
const PROFILE = 'http://example.org/named-patient'

/** Small content of every kind that operations read. */
const CONTENT: readonly { readonly resourceType: string; readonly [name: string]: unknown }[] = [
  { resourceType: 'Patient', id: 'a', gender: 'female', identifier: [{ system: 'http://example.org/mrn', value: '1' }] },
  { resourceType: 'Patient', id: 'b', gender: 'male', meta: { profile: [PROFILE] } },
  { resourceType: 'Observation', id: 'o', status: 'final', code: { text: 'x' }, subject: { reference: 'Patient/a' } },
  {
    resourceType: 'CodeSystem',
    id: 'colours',
    url: SYSTEM,
    status: 'active',
    content: 'complete',
    hierarchyMeaning: 'is-a',
    concept: [
      { code: 'red', display: 'Red', concept: [{ code: 'pink', display: 'Pink' }] },
      { code: 'blue', display: 'Blue' },
    ],
  },
  {
    resourceType: 'ValueSet',
    id: 'warm',
    url: VALUE_SET,
    status: 'active',
    compose: { include: [{ system: SYSTEM, filter: [{ property: 'concept', op: 'is-a', value: 'red' }] }] },
  },
  {
    resourceType: 'ConceptMap',
    id: 'map',
    url: 'http://example.org/map',
    status: 'active',
    group: [
      {
        source: SYSTEM,
        target: 'http://example.org/tones',
        element: [{ code: 'red', target: [{ code: 'r', equivalence: 'equivalent' }] }],
      },
    ],
  },
  {
    resourceType: 'Measure',
    id: 'women',
    status: 'active',
    group: [{ population: [{ criteria: { language: 'application/x-fhir-query', expression: 'Patient?gender=female' } }] }],
  },
  {
    resourceType: 'StructureDefinition',
    id: 'named',
    url: PROFILE,
    name: 'Named',
    status: 'active',
    kind: 'resource',
    abstract: false,
    type: 'Patient',
    baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Patient',
    derivation: 'constraint',
    differential: { element: [{ id: 'Patient.name', path: 'Patient.name', min: 1 }] },
  },
  { resourceType: 'Bot', id: 'echo', runtime: 'sandbox', code: 'export const handler = (event) => event.input' },
]
