// Start it as often as you like, each with a PORT of its own and all with the same DATABASE_URL: they keep nothing to themselves, so
// that any of them answers any request. With POOLER=1 the DATABASE_URL leads to a pgbouncer in transaction mode; REPLICA_URLS are addresses of standbys,
// with blanks between them, that searches are read from.
import { createServer } from 'node:http'
import { createHandler } from '@fhir-ops/handler'
import { configureServer, toNodeListener } from '@fhir-ops/handler/node'
import { openPostgres } from '@fhir-ops/postgres'
import { r4 } from '@fhir-ops/r4'
import { createContext } from 'fhir-ops/context'
import { createSessions } from 'fhir-ops/sessions'
import pg from 'pg'

const port = Number(process.env['PORT'] ?? 8080)
const url = `http://127.0.0.1:${port}`
const connectionString = process.env['DATABASE_URL']
if (connectionString === undefined) {
  console.error('Set DATABASE_URL to a PostgreSQL database, such as postgres://me:secret@127.0.0.1:5432/fhir.')
  process.exit(1)
}

const pooler = process.env['POOLER'] === '1' ? { transactionPooling: true, notify: false } : {}
const replicas = (process.env['REPLICA_URLS'] ?? '')
  .split(' ')
  .filter((address) => address !== '')
  .map((address) => new pg.Pool({ connectionString: address }))

const database = await openPostgres(new pg.Pool({ connectionString }), { ...pooler, replicas })
const { indexer, ...release } = r4()
const sessions = createSessions({ store: database.sessions })
const context = createContext({ storage: database.storage, ...release })
const handler = createHandler({ context, sessions, indexer, baseUrl: url, defaultPolicy: 'deny' })
const { token } = await sessions.create({ user: 'me', scopes: ['openid', 'system/*.cruds'] })

const server = createServer(toNodeListener(handler))
configureServer(server)
server.listen(port, '127.0.0.1', () => console.log(`listening on ${url} with token ${token}`))
