import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Handler } from '@fhir-ops/handler'
import type { OperationContext } from 'fhir-ops/context'

/** What is needed to serve MCP. */
interface McpParts {
  readonly handler: Handler
  readonly context: OperationContext
  readonly baseUrl: string
  readonly auth: 'required' | 'off'
  /** Receives unexpected errors. */
  readonly onError: (error: Error) => void
}

/** Path of MCP below the base address. */
export const MCP_PATH = '/mcp'

/** Serves requests at `/mcp`. The returned function returns true if a request is for this path; the answer follows. */
export async function mcpListener(parts: McpParts): Promise<(message: IncomingMessage, response: ServerResponse) => boolean> {
  const { createMcpHandler } = await import('@fhir-ops/mcp') // a large package, which few servers need
  const answer = createMcpHandler(parts)
  const url = new URL(`${parts.baseUrl.replace(/\/$/, '')}${MCP_PATH}`)
  return (message, response) => {
    const [path, ...query] = (message.url ?? '').split('?')
    if (path !== url.pathname) return false
    pass(message, response, (request) => answer(request), new URL(`?${query.join('?')}`, url)).catch(() => response.destroy())
    return true
  }
}

/** Methods that a `Request` cannot have. They are refused like other unsupported methods. */
const NO_REQUESTS: ReadonlySet<string> = new Set(['TRACE', 'TRACK'])

/** Passes a request on. Its body is read after the token is accepted. Repeated headers are kept, so that no second token is ignored. Ends with its caller. */
async function pass(
  message: IncomingMessage,
  response: ServerResponse,
  answer: (request: Request) => Promise<Response>,
  url: URL,
): Promise<void> {
  const headers = new Headers()
  for (const [name, values = []] of Object.entries(message.headersDistinct)) for (const value of values) headers.append(name, value)
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const body = message.method === 'POST' ? ({ body: message, duplex: 'half' } as const) : {}
  const { method = 'GET' } = message
  const answered = await answer(
    new Request(url, { method: NO_REQUESTS.has(method) ? 'PUT' : method, headers, signal: gone.signal, ...body }),
  )
  if (!message.complete) response.setHeader('connection', 'close')
  response.writeHead(answered.status, Object.fromEntries(answered.headers))
  response.end(new Uint8Array(await answered.arrayBuffer()))
}
