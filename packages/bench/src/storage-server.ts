// A server process: the handler on node:http over `sqlite:FILE` or the URL of a PostgreSQL, its first argument. Prints its port and
// a token as JSON.
import { createServer } from 'node:http'
import { createHandler } from '@fhir-ops/handler'
import { toNodeListener } from '@fhir-ops/handler/node'
import { openPostgres } from '@fhir-ops/postgres'
import { r4 } from '@fhir-ops/r4'
import { openSqlite } from '@fhir-ops/sqlite'
import { createContext } from 'fhir-ops/context'
import { createSessions } from 'fhir-ops/sessions'
import pg from 'pg'
import { announce } from './http/announce.js'

const [place = ''] = process.argv.slice(2)
const opened = place.startsWith('sqlite:')
  ? await openSqlite(place.slice('sqlite:'.length))
  : await openPostgres(new pg.Pool({ connectionString: place }))
const { indexer, ...release } = r4()
const sessions = createSessions({ store: opened.sessions })
const { token } = await sessions.create({ user: 'bench', scopes: ['system/*.cruds'], ttl: 86_400 })
const handler = createHandler({
  context: createContext({ storage: opened.storage, ...release }),
  sessions,
  indexer,
  baseUrl: 'http://127.0.0.1',
  defaultPolicy: 'deny',
})
announce(createServer(toNodeListener(handler)), { token })
