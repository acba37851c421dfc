import { setTimeout as after } from 'node:timers/promises'
import { isObject } from 'fhir-ops/internal/json'
import { markdownTable } from '../markdown.js'
import { openedCluster, type Part, type Cluster } from './parts.js'

/** Time for which all parts work, and time for which one of them is stopped; afterwards all work again. */
const STEADY_MS = 2_000
const AWAY_MS = 3_000

/**
 * Kills each part of `examples/cluster` in turn under a mixed load, and starts it again. Reports which requests fail meanwhile, for how long none succeeds,
 * and whether acknowledged writes are lost or not visible. Fails if any are.
 */
export async function clusterFaults(): Promise<string> {
  const cluster = await openedCluster()
  try {
    const load = mixedLoad(cluster)
    await after(STEADY_MS)
    const rows: string[][] = []
    for (const part of cluster.parts) {
      rows.push(await killed(part, load.seen))
      process.stderr.write(`${rows.at(-1)?.join(' | ')}\n`)
    }
    await load.end()
    const { acknowledged, stale } = load.seen
    const lost = await lostOf(cluster, load.seen)
    if (lost > 0 || stale > 0) throw new Error(`${lost} acknowledged writes are lost, ${stale} answers were stale`)
    const table = markdownTable(
      ['killed', 'answered', 'failed, by status', 'longest time without an answer, ms', 'from its start to an answer, ms'],
      rows,
    )
    return `${table}\n\n${acknowledged.length} writes acknowledged, ${lost} lost, ${stale} answers without what was acknowledged before`
  } finally {
    await cluster.remove()
  }
}

async function killed(part: Part, seen: Seen): Promise<string[]> {
  const answered = seen.answered
  const failed = new Map(seen.failed)
  seen.longestPause = 0
  await part.stop()
  await after(AWAY_MS)
  await part.start()
  const back = performance.now()
  const before = seen.answered
  while (seen.answered === before) await after(1)
  const firstMs = performance.now() - back
  await after(STEADY_MS)
  const failures = [...seen.failed]
    .map(([what, count]) => [what, count - (failed.get(what) ?? 0)] as const)
    .filter(([, count]) => count > 0)
  const told = failures.map(([what, count]) => `${what}: ${count}`).join(', ')
  return [part.name, String(seen.answered - answered), told === '' ? '0' : told, seen.longestPause.toFixed(0), firstMs.toFixed(0)]
}

/** Results of a load. */
interface Seen {
  answered: number
  /** Numbers of requests without an answer, or with a 5xx, by the error or status. */
  readonly failed: Map<string, number>
  /** Acknowledged writes: the id, its version, and the mark in the resource. */
  readonly acknowledged: Acknowledged[]
  /** Number of answers that lack writes that were acknowledged before the request. */
  stale: number
  /** Time of the last success, and the longest time between two successes, in milliseconds. */
  lastSuccess: number
  longestPause: number
}

interface Acknowledged {
  readonly id: string
  readonly version: string
  readonly mark: string
}

/** A running load. */
interface MixedLoad {
  readonly seen: Seen
  end(): Promise<void>
}

const LANES = 6
const SYSTEM = 'http://example.org/marks'

/**
 * Starts clients that each write their own Observation repeatedly, and after each write read it, search for it and count, each time at the next
 * instance. As with a load balancer, an instance that refuses the connection is skipped.
 */
function mixedLoad(cluster: Cluster): MixedLoad {
  const seen: Seen = { answered: 0, failed: new Map(), acknowledged: [], stale: 0, lastSuccess: performance.now(), longestPause: 0 }
  const stop = new AbortController()
  const client = { cluster, seen, turn: 0 }
  const lanes = Array.from({ length: LANES }, async (_, lane) => {
    for (let step = 0; !stop.signal.aborted; step++) await writeAndLook(client, `lane-${lane}`, `${lane}-${step}`)
  })
  return {
    seen,
    async end() {
      stop.abort()
      await Promise.all(lanes)
    },
  }
}

/** Number of acknowledged versions that are missing or differ from what was written. */
async function lostOf(cluster: Cluster, { acknowledged }: Seen): Promise<number> {
  const [instance = ''] = cluster.instances
  let lost = 0
  for (const { id, version, mark } of acknowledged) {
    const answer = await fetch(`${instance}/Observation/${id}/_history/${version}`, { headers: headersOf(cluster) })
    if (!answer.ok || !(await answer.text()).includes(`"${mark}"`)) lost++
  }
  return lost
}

interface Client {
  readonly cluster: Cluster
  readonly seen: Seen
  turn: number
}

async function writeAndLook(client: Client, id: string, mark: string): Promise<void> {
  const body = JSON.stringify({
    resourceType: 'Observation',
    id,
    status: 'final',
    identifier: [{ system: SYSTEM, value: mark }],
    code: { coding: [{ system: 'http://loinc.org', code: '8867-4' }] },
  })
  const written = await asked(client, `/Observation/${id}`, { method: 'PUT', body })
  if (written === undefined) return
  client.seen.acknowledged.push({ id, version: textAt(member(written, 'meta'), 'versionId'), mark })
  const read = await asked(client, `/Observation/${id}`)
  if (read !== undefined && !JSON.stringify(read).includes(`"${mark}"`)) client.seen.stale++
  const found = await asked(client, `/Observation?identifier=${encodeURIComponent(`${SYSTEM}|${mark}`)}&_total=accurate`)
  if (found !== undefined && member(found, 'total') !== 1) client.seen.stale++
  await asked(client, '/Observation?status=final&_summary=count')
}

function member(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined
}

function textAt(value: unknown, name: string): string {
  const text = member(value, name)
  return typeof text === 'string' ? text : ''
}

/** Sends a request and returns the answer; `undefined` if there was none, or an error, which is counted. */
async function asked(client: Client, path: string, init: RequestInit = {}): Promise<unknown> {
  const { cluster, seen } = client
  const first = client.turn++
  for (const next of cluster.instances.keys()) {
    const instance = cluster.instances[(first + next) % cluster.instances.length] ?? ''
    try {
      const answer = await fetch(instance + path, { ...init, headers: headersOf(cluster), signal: AbortSignal.timeout(10_000) })
      const content: unknown = await answer.json()
      if (!answer.ok) return failed(seen, String(answer.status))
      succeeded(seen)
      return content
    } catch (error) {
      if (textAt(member(error, 'cause'), 'code') !== 'ECONNREFUSED') return failed(seen, 'no answer')
    }
  }
  return failed(seen, 'no instance')
}

function headersOf({ token }: Cluster): Record<string, string> {
  return { authorization: `Bearer ${token}`, 'content-type': 'application/fhir+json' }
}

function succeeded(seen: Seen): void {
  const now = performance.now()
  seen.answered++
  seen.longestPause = Math.max(seen.longestPause, now - seen.lastSuccess)
  seen.lastSuccess = now
}

async function failed(seen: Seen, what: string): Promise<undefined> {
  seen.failed.set(what, (seen.failed.get(what) ?? 0) + 1)
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  return undefined
}

/** Pause after a failure, as of clients that retry. */
const PAUSE_MS = 20
