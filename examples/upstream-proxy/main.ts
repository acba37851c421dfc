import { createServer } from 'node:http'
import { createContext } from 'fhir-ops/context'
import { memorySessionStore } from 'fhir-ops/memory'
import { createSessions } from 'fhir-ops/sessions'
import { createHandler } from '@fhir-ops/handler'
import { configureServer, toNodeListener } from '@fhir-ops/handler/node'
import { httpStorage } from '@fhir-ops/http'
import { r4 } from '@fhir-ops/r4'

const port = Number(process.env['PORT'] ?? 8080)
const url = `http://127.0.0.1:${port}`
const upstream = process.env['UPSTREAM'] ?? 'http://127.0.0.1:8081/fhir/R4'
const upstreamToken = process.env['UPSTREAM_TOKEN']

// Resources stay on the other server; translate, expand, validate and evaluate run here.
const storage = httpStorage({ baseUrl: upstream, ...(upstreamToken !== undefined && { token: upstreamToken }) })
const { indexer, ...release } = r4()
const sessions = createSessions({ store: memorySessionStore() })
const handler = createHandler({
  context: createContext({ storage, ...release }),
  sessions,
  indexer,
  baseUrl: url,
  defaultPolicy: 'deny',
})
const { token } = await sessions.create({ user: 'me', scopes: ['openid', 'system/*.cruds'] })

const server = createServer(toNodeListener(handler))
configureServer(server)
server.listen(port, '127.0.0.1', () => console.log(`listening on ${url} with token ${token}`))
