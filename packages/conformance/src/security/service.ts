import { openBotSandbox } from '@fhir-ops/bot-sandbox'
import { createHandler, type HandlerOptions } from '@fhir-ops/handler'
import { r4 } from '@fhir-ops/r4'
import { createContext } from 'fhir-ops/context'
import { createBots } from 'fhir-ops/execute'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { createSessions } from 'fhir-ops/sessions'

/** A service that is called without a socket. */
interface WholeService {
  call(method: string, path: string, body?: string): Promise<Response>
  close(): Promise<void>
}

/** The whole service over memory, called without a socket. */
export function wholeService(resources: readonly object[] = [], options: Partial<HandlerOptions> = {}): WholeService {
  const { indexer, ...release } = r4()
  const runtime = openBotSandbox()
  const handler = createHandler({
    context: createContext({ storage: memoryStorage(resources, { indexer }), ...release }),
    sessions: createSessions({ store: memorySessionStore() }),
    indexer,
    bots: createBots({ runtime }),
    baseUrl: 'http://fhir.example.org',
    auth: 'off',
    defaultPolicy: 'deny',
    ...options,
  })
  const call = (method: string, path: string, body?: string): Promise<Response> =>
    handler(
      new Request(`http://fhir.example.org/fhir/R4${path}`, {
        method,
        ...(body !== undefined && { body, headers: { 'content-type': 'application/fhir+json' } }),
      }),
    )
  return { call, close: () => runtime.close() }
}
