import autocannon from 'autocannon'
import { openPostgres } from '@fhir-ops/postgres'
import { r4 } from '@fhir-ops/r4'
import { stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { putResource } from 'fhir-ops/storage'
import { testDatabase, type TestDatabase } from '../../../postgres/test/test-database.js'
import { largeCodeSystem, largeMap } from '../content/content.js'
import { childServer, type ChildServer } from '../http/child-server.js'
import { REQUESTS, type BenchRequest } from '../http/requests.js'
import { markdownTable } from '../markdown.js'

const CONNECTIONS = 4
const SECONDS = 3

/** Requests per second of two handler processes over one PostgreSQL, compared with one process. Stored bots are left out: they do not read it. */
export async function cluster(): Promise<string> {
  const database = await testDatabase()
  try {
    const url = await filledSchema(database)
    const servers = await Promise.all([1, 2].map(() => childServer('storage-server', [url])))
    const rows: string[][] = []
    for (const request of REQUESTS.filter(({ path }) => !path.includes('/Bot/'))) rows.push(await compared(request, servers))
    await Promise.all(servers.map((server) => server.close()))
    return markdownTable(['over PostgreSQL', 'one process, requests/s', 'p99 ms', 'two processes, requests/s', 'p99 ms'], rows)
  } finally {
    await database.remove()
  }
}

/** The address of a schema with a code system and a map. */
async function filledSchema(database: TestDatabase): Promise<string> {
  const schema = await database.schema()
  if (schema.url === undefined) throw new TypeError('Two processes need a PostgreSQL server.')
  const opened = await openPostgres(schema.pool())
  const { indexer } = r4()
  for (const resource of [...largeCodeSystem(), largeMap()]) {
    await opened.storage.write([putResource({ ...addressOf(resource), source: resource }, indexer)])
  }
  await opened.close()
  return schema.url
}

function addressOf(resource: JsonObject): { readonly type: string; readonly id: string } {
  return { type: stringAt(resource, 'resourceType') ?? '', id: stringAt(resource, 'id') ?? '' }
}

/** Measures a request against one and both servers. Both accept the token that one of them issued. */
async function compared(request: BenchRequest, servers: readonly ChildServer[]): Promise<string[]> {
  const token = servers[0]?.token ?? ''
  const alone = await load(request, servers.slice(0, 1), token)
  const together = await load(request, servers, token)
  return [request.name, ...[alone, together].flatMap(({ requests, p99 }) => [requests.toFixed(0), p99.toFixed(1)])]
}

async function load(request: BenchRequest, servers: readonly ChildServer[], token: string): Promise<{ requests: number; p99: number }> {
  const headers = { ...request.headers, authorization: `Bearer ${token}` }
  const run = async (duration: number) =>
    Promise.all(
      servers.map(({ base }) =>
        autocannon({
          url: base + request.path,
          method: request.method,
          headers,
          connections: CONNECTIONS,
          body: request.body?.replace('c77777', 'c777'),
          duration,
        }),
      ),
    )
  await run(1)
  const results = await run(SECONDS)
  const failed = results.reduce((sum, { non2xx }) => sum + non2xx, 0)
  if (failed > 0) throw new Error(`${request.name}: ${failed} answers were not successful`)
  return {
    requests: results.reduce((sum, { requests }) => sum + requests.average, 0),
    p99: Math.max(...results.map(({ latency }) => latency.p99)),
  }
}
