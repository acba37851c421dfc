import { createServer } from 'node:http'
import { createHandler } from '@fhir-ops/handler'
import { toNodeListener } from '@fhir-ops/handler/node'
import { r4Definitions, r4SearchParameters, r4TypeModel } from '@fhir-ops/r4'
import { languageTags, mediaTypes, registryDefinitions } from '@fhir-ops/registries'
import ucumLhc from '@lhncbc/ucum-lhc'
import { createContext } from 'fhir-ops/context'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { searchParameters } from 'fhir-ops/search'
import { createSessions } from 'fhir-ops/sessions'
import { ucum } from 'fhir-ops/ucum'

/** A listening server and how to stop it. */
export interface RunningServer {
  /** FHIR base. */
  readonly base: string
  readonly close: () => Promise<void>
}

/** Starts the handler over an empty memory storage, the R4 definitions and the systems of registries and units, open to everybody, on a free port. */
export async function startTxServer(): Promise<RunningServer> {
  const server = createServer()
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const parameters = searchParameters(r4SearchParameters(), r4TypeModel())
  const handler = createHandler({
    context: createContext({
      storage: memoryStorage(),
      definitions: [r4Definitions(), registryDefinitions()],
      codeSystems: [languageTags(), mediaTypes(), ucum(ucumLhc.UcumLhcUtils.getInstance())],
      search: { parameters },
    }),
    sessions: createSessions({ store: memorySessionStore() }),
    baseUrl: `http://127.0.0.1:${port}`,
    auth: 'off',
    defaultPolicy: 'deny',
  })
  server.on('request', toNodeListener(handler))
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => {
      server.close(resolve)
    })
  }
  return { base: `http://127.0.0.1:${port}/fhir/R4`, close }
}
