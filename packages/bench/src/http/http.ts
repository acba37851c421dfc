import autocannon from 'autocannon'
import { markdownTable } from '../markdown.js'
import { childServer } from './child-server.js'
import { REQUESTS, type BenchRequest } from './requests.js'

const CONNECTIONS = 8
/** Until then the engine still compiles: a server that has run for a while is what is measured. */
const WARM_UP_SECONDS = 10
const SECONDS = 3

/** Requests a second of each operation through the handler, beside a bare node:http server that answers the same bytes, in turns. */
export async function overHttp(): Promise<string> {
  const handler = await childServer('handler-server')
  const rows: string[][] = []
  for (const request of REQUESTS) rows.push(await compared(request, handler.base, handler.token ?? ''))
  await handler.close()
  return markdownTable(['over node:http', 'handler/s', 'p99 ms', 'bare/s', 'bare p99 ms', 'handler : bare'], rows)
}

async function compared(request: BenchRequest, base: string, token: string): Promise<string[]> {
  const headers = { ...request.headers, authorization: `Bearer ${token}` }
  const answer = await fetch(base + request.path, { method: request.method, headers, body: request.body ?? null })
  if (answer.status !== 200) throw new Error(`${request.name}: status ${answer.status}: ${await answer.text()}`)
  const bare = await childServer('bare-server', [await answer.text(), answer.headers.get('content-type') ?? ''])
  const ours = await load(request, base, headers)
  const limit = await load(request, bare.base, headers)
  await bare.close()
  const ratio = ours.requests / limit.requests
  return [request.name, ours.requests.toFixed(0), ours.p99.toFixed(1), limit.requests.toFixed(0), limit.p99.toFixed(1), ratio.toFixed(2)]
}

async function load(request: BenchRequest, base: string, headers: Record<string, string>): Promise<{ requests: number; p99: number }> {
  const options = { url: base + request.path, method: request.method, headers, connections: CONNECTIONS, body: request.body }
  await autocannon({ ...options, duration: WARM_UP_SECONDS })
  const result = await autocannon({ ...options, duration: SECONDS })
  if (result.non2xx > 0) throw new Error(`${request.name}: ${result.non2xx} answers were no success`)
  return { requests: result.requests.average, p99: result.latency.p99 }
}
