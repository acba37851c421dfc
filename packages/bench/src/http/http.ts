import autocannon from 'autocannon'
import { markdownTable } from '../markdown.js'
import { median } from '../timing.js'
import { childServer, type ChildServer } from './child-server.js'
import { REQUESTS, type BenchRequest, sentRequest } from './requests.js'

const CONNECTIONS = 8
/** During the warm-up the JavaScript engine still compiles. A server that has run for a while is measured. */
const WARM_UP_SECONDS = 3
const ROUNDS = 5
const ATTEMPTS = 5
/** Minimum number of requests of a round, which has as many as fit into a second. All are answered: an unfinished one would add cost without being counted. */
const FEWEST = 40

/**
 * Processor time of the server for a request, with the handler and with a bare node:http server that reads the body and answers the same bytes, in
 * turns. Requests per second are also shown; on few cores they depend on the client, too.
 */
export async function overHttp(): Promise<string> {
  const handler = await childServer('handler-server')
  const rows: string[][] = []
  for (const request of REQUESTS) rows.push(await compared(request, handler))
  await handler.close()
  return markdownTable(['over node:http', 'handler µs', 'bare µs', 'handler : bare', 'handler/s', 'bare/s', 'handler p99 ms'], rows)
}

async function compared(request: BenchRequest, handler: ChildServer): Promise<string[]> {
  const headers = { ...request.headers, authorization: `Bearer ${handler.token ?? ''}` }
  const { answer, text } = await firstAnswer(request, handler.base, headers)
  const bare = await childServer('bare-server', [String(text.length), answer.headers.get('content-type') ?? ''])
  const servers = [handler, bare]
  const sending = { ...request, headers }
  const amounts: number[] = []
  for (const server of servers) {
    const { perSecond } = await load(sending, server, { duration: WARM_UP_SECONDS })
    amounts.push(Math.max(FEWEST, Math.round(perSecond)))
  }
  const rounds: Load[][] = []
  for (let round = 0; round < ROUNDS; round++) {
    const turn: Load[] = []
    for (const [at, server] of servers.entries()) turn.push(await load(sending, server, { amount: amounts[at] ?? FEWEST }))
    rounds.push(turn)
  }
  await bare.close()
  return cells(request.name, rounds)
}

/** Repeats the request if indexes that are built at first use take longer than the time limit. */
async function firstAnswer(
  { name, path, method, body }: BenchRequest,
  base: string,
  headers: Record<string, string>,
): Promise<{ readonly answer: Response; readonly text: string }> {
  for (let attempt = 1; ; attempt++) {
    const answer = await fetch(base + path, { method, headers, body: body ?? null })
    const text = await answer.text()
    if (answer.status === 200) return { answer, text }
    if (attempt === ATTEMPTS) throw new Error(`${name}: status ${answer.status}: ${text}`)
  }
}

function cells(name: string, rounds: readonly (readonly Load[])[]): string[] {
  const of = (server: number, figure: keyof Load): number => median(rounds.map((round) => round[server]?.[figure] ?? 0))
  const [ours, bare] = [of(0, 'micros'), of(1, 'micros')]
  return [
    name,
    ours.toFixed(0),
    bare.toFixed(0),
    (ours / bare).toFixed(1),
    of(0, 'perSecond').toFixed(0),
    of(1, 'perSecond').toFixed(0),
    of(0, 'p99').toFixed(1),
  ]
}

interface Load {
  /** Processor time of the server for a request. */
  readonly micros: number
  readonly perSecond: number
  readonly p99: number
}

async function load(
  request: BenchRequest,
  server: ChildServer,
  bound: { readonly duration: number } | { readonly amount: number },
): Promise<Load> {
  const before = await server.cpuTime()
  const result = await autocannon({ url: server.base, connections: CONNECTIONS, ...bound, requests: [sentRequest(request)] })
  const used = (await server.cpuTime()) - before
  if (result.non2xx > 0) throw new Error(`${request.name}: ${result.non2xx} answers were not successful`)
  return { micros: used / result['2xx'], perSecond: result.requests.average, p99: result.latency.p99 }
}
