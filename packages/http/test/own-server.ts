import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createHandler } from '@fhir-ops/handler'
import { configureServer, toNodeListener } from '@fhir-ops/handler/node'
import { r4SearchParameters, r4TypeModel } from '@fhir-ops/r4'
import { createContext } from 'fhir-ops/context'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { createIndexer, searchParameters } from 'fhir-ops/search'
import { createSessions } from 'fhir-ops/sessions'

const parameters = searchParameters(r4SearchParameters(), r4TypeModel())

/** A FHIR server of ours on a free port, over memory. */
export interface OwnServer {
  readonly baseUrl: string
  readonly token: string
  readonly stop: () => Promise<void>
}

/** The options that reach a server. */
export function reached({ baseUrl, token }: OwnServer): Pick<OwnServer, 'baseUrl' | 'token'> {
  return { baseUrl, token }
}

/** Starts our own handler, which wants a token. */
export async function startOwnServer(now: () => Date = () => new Date()): Promise<OwnServer> {
  const server = configureServer(createServer())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const sessions = createSessions({ store: memorySessionStore() })
  const handler = createHandler({
    context: createContext({ storage: memoryStorage([], { now }), search: { parameters } }),
    indexer: createIndexer(parameters),
    sessions,
    baseUrl: base,
    defaultPolicy: 'deny',
  })
  server.on('request', toNodeListener(handler))
  const { token } = await sessions.create({ user: 'proxy', scopes: ['system/*.cruds'] })
  const stop = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { baseUrl: `${base}/fhir/R4`, token, stop }
}
