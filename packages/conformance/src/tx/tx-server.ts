import { createServer, type RequestListener } from 'node:http'
import { createHandler, type Handler } from '@fhir-ops/handler'
import { toNodeListener } from '@fhir-ops/handler/node'
import { r4Definitions, r4SearchParameters, r4TypeModel } from '@fhir-ops/r4'
import { loinc, rxnorm } from '@fhir-ops/loinc-rxnorm'
import { registries, registryDefinitions } from '@fhir-ops/registries'
import { unitsOfMeasure } from '@fhir-ops/registries/ucum'
import { snomed } from '@fhir-ops/snomed'
import { createContext, type ContextOptions } from 'fhir-ops/context'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { searchParameters } from 'fhir-ops/search'
import { createSessions } from 'fhir-ops/sessions'

/** A listening server. */
export interface RunningServer {
  /** FHIR base. */
  readonly base: string
  readonly close: () => Promise<void>
}

/** Starts the handler of `txHandler` over an empty memory storage on a free port. */
export async function startTxServer(): Promise<RunningServer> {
  return listen((base) => toNodeListener(txHandler(base, { storage: memoryStorage() })))
}

/** A handler over a storage, the R4 definitions and the code systems of registries and units, without access control. */
export function txHandler(baseUrl: string, options: ContextOptions): Handler {
  const parameters = searchParameters(r4SearchParameters(), r4TypeModel())
  return createHandler({
    context: createContext({
      definitions: [r4Definitions(), registryDefinitions()],
      codeSystems: [snomed(), loinc(), rxnorm(), ...registries(), unitsOfMeasure()],
      search: { parameters },
      ...options,
    }),
    sessions: createSessions({ store: memorySessionStore() }),
    baseUrl,
    auth: 'off',
    defaultPolicy: 'deny',
  })
}

/** Listens on a free port of this machine. */
export async function listen(listenerAt: (url: string) => RequestListener): Promise<RunningServer> {
  const server = createServer()
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  server.on('request', listenerAt(url))
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => {
      server.close(resolve)
    })
  }
  return { base: `${url}/fhir/R4`, close }
}
