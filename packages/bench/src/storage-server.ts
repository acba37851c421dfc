// A server process: the handler on node:http over its argument, which is `memory`, `sqlite:FILE` or the URL of a PostgreSQL database.
// Prints its port and a token as JSON.
import { createServer } from 'node:http'
import { openBotSandbox } from '@fhir-ops/bot-sandbox'
import { createHandler } from '@fhir-ops/handler'
import { toNodeListener } from '@fhir-ops/handler/node'
import { openPostgres } from '@fhir-ops/postgres'
import { r4 } from '@fhir-ops/r4'
import { openSqlite } from '@fhir-ops/sqlite'
import { createContext } from 'fhir-ops/context'
import { createBots } from 'fhir-ops/execute'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { createSessions } from 'fhir-ops/sessions'
import type { SessionStore, Storage } from 'fhir-ops/storage'
import pg from 'pg'
import { announce } from './http/announce.js'

const [place = ''] = process.argv.slice(2)
const opened = await openedAt(place)
const { indexer, ...release } = r4()
const sessions = createSessions({ store: opened.sessions })
const { token } = await sessions.create({ user: 'bench', scopes: ['system/*.cruds', 'system/Bot.cruds'], ttl: 86_400 })
const handler = createHandler({
  context: createContext({ storage: opened.storage, ...release }),
  sessions,
  bots: createBots({ runtime: openBotSandbox() }),
  indexer,
  baseUrl: 'http://127.0.0.1',
  defaultPolicy: 'deny',
})
announce(createServer(toNodeListener(handler)), { token })

interface Opened {
  readonly storage: Storage
  readonly sessions: SessionStore
}

async function openedAt(where: string): Promise<Opened> {
  if (where === 'memory') return { storage: memoryStorage(), sessions: memorySessionStore() }
  if (where.startsWith('sqlite:')) return openSqlite(where.slice('sqlite:'.length))
  return openPostgres(new pg.Pool({ connectionString: where }))
}
