import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Answers one request in whatever way. */
export type Behaviour = (request: IncomingMessage, response: ServerResponse) => void

/** A server that behaves as the test says. */
export interface ScriptedServer {
  readonly origin: string
  readonly baseUrl: string
  /** `METHOD path` of every request so far. */
  readonly requests: string[]
  behave: Behaviour
  readonly stop: () => Promise<void>
}

export async function startScriptedServer(): Promise<ScriptedServer> {
  const requests: string[] = []
  const http = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    server.behave(request, response)
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const server: ScriptedServer = {
    origin,
    baseUrl: `${origin}/fhir`,
    requests,
    behave: (_, response) => void response.end(),
    async stop() {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }
  return server
}

/** Answers with JSON. */
export function json(content: unknown, status = 200, headers: Record<string, string> = {}): Behaviour {
  return (_, response) =>
    void response.writeHead(status, { 'content-type': 'application/fhir+json', ...headers }).end(JSON.stringify(content))
}

/** Answers with these bytes. */
export function bytes(body: string | Uint8Array, headers: Record<string, string> = {}, status = 200): Behaviour {
  return (_, response) => void response.writeHead(status, { 'content-type': 'application/fhir+json', ...headers }).end(body)
}
