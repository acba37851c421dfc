// A server process: the handler on node:http over memory. Prints its port and token as JSON.
import { createServer } from 'node:http'
import { openBotSandbox } from '@fhir-ops/bot-sandbox'
import { createHandler } from '@fhir-ops/handler'
import { toNodeListener } from '@fhir-ops/handler/node'
import { createBots } from 'fhir-ops/execute'
import { memorySessionStore } from 'fhir-ops/memory'
import { createSessions } from 'fhir-ops/sessions'
import { BOT, largeCodeSystem, largeMap, PATIENT } from './content/content.js'
import { contextWith } from './context.js'
import { announce } from './http/announce.js'

const sessions = createSessions({ store: memorySessionStore() })
const { token } = await sessions.create({ user: 'bench', scopes: ['system/*.cruds'] })
const handler = createHandler({
  context: contextWith([...largeCodeSystem(), largeMap(), PATIENT, BOT]),
  sessions,
  bots: createBots({ runtime: openBotSandbox() }),
  baseUrl: 'http://127.0.0.1',
  defaultPolicy: 'deny',
})
announce(createServer(toNodeListener(handler)), { token })
