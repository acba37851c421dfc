// Two tenants, north and south, in one file. The first segment of the path says whose request it is; a host name would do as well.
import { createServer, type RequestListener } from 'node:http'
import { createHandler } from '@fhir-ops/handler'
import { configureServer, toNodeListener } from '@fhir-ops/handler/node'
import { r4 } from '@fhir-ops/r4'
import { openSqlite } from '@fhir-ops/sqlite'
import { storageLayer } from 'fhir-ops/content'
import { createCache, createContext } from 'fhir-ops/context'
import { createSessions } from 'fhir-ops/sessions'
import { putResource } from 'fhir-ops/storage'
import { tenantSessionStore, tenantStorage } from 'fhir-ops/tenants'

const port = Number(process.env['PORT'] ?? 8080)
const url = `http://127.0.0.1:${port}`

const database = await openSqlite(process.env['FILE'] ?? 'tenants.db')
const { indexer, definitions, ...release } = r4()
const cache = createCache()

// What lies beside the tenants is shared; each may have a version of its own.
const source = {
  resourceType: 'ValueSet',
  url: 'http://example.org/wards',
  status: 'active',
  compose: { include: [{ system: 'http://hl7.org/fhir/administrative-gender', concept: [{ code: 'female' }] }] },
}
await database.storage.write([putResource({ type: 'ValueSet', id: 'wards', source }, indexer)])
const shared = storageLayer(database.storage, 'shared')

async function open(tenant: string): Promise<{ readonly listener: RequestListener; readonly token: string }> {
  const storage = tenantStorage(database.storage, tenant)
  const sessions = createSessions({ store: tenantSessionStore(database.sessions, tenant) })
  const context = createContext({ storage, definitions: [shared, ...definitions], cache, ...release })
  const handler = createHandler({ context, sessions, indexer, baseUrl: `${url}/${tenant}`, defaultPolicy: 'deny' })
  const { token } = await sessions.create({ user: 'me', scopes: ['openid', 'system/*.cruds'] })
  return { listener: toNodeListener(handler), token }
}

const [north, south] = [await open('north'), await open('south')]
const listeners = new Map([
  ['north', north.listener],
  ['south', south.listener],
])
const server = createServer((request, response) => {
  const listener = listeners.get(request.url?.split('/')[1] ?? '')
  if (listener === undefined) response.writeHead(404).end()
  else listener(request, response)
})
configureServer(server)
server.listen(port, '127.0.0.1', () => console.log(`listening on ${url}/north with token ${north.token}`))
