import { createContext } from 'fhir-ops/context'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { createSessions } from 'fhir-ops/sessions'
import { createHandler, type Handler } from '@fhir-ops/handler'
import { r4 } from '@fhir-ops/r4'

const COLOURS = {
  resourceType: 'CodeSystem',
  id: 'colours',
  url: 'http://example.org/colours',
  status: 'active',
  content: 'complete',
  concept: [
    { code: 'r', display: 'Red' },
    { code: 'g', display: 'Green' },
  ],
}

const ALL_COLOURS = {
  resourceType: 'ValueSet',
  id: 'all-colours',
  url: 'http://example.org/all-colours',
  status: 'active',
  compose: { include: [{ system: 'http://example.org/colours' }] },
}

/** A service over memory that knows two colours, and a token that may do everything. */
export async function createService(baseUrl: string): Promise<{ readonly handler: Handler; readonly token: string }> {
  const { indexer, ...release } = r4()
  const storage = memoryStorage([COLOURS, ALL_COLOURS], { indexer })
  const sessions = createSessions({ store: memorySessionStore() })
  const context = createContext({ storage, ...release })
  const handler = createHandler({ context, sessions, indexer, baseUrl, defaultPolicy: 'deny' })
  const { token } = await sessions.create({ user: 'me', scopes: ['openid', 'system/*.cruds'] })
  return { handler, token }
}
