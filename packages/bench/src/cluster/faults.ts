import { setTimeout as after } from 'node:timers/promises'
import { markdownTable } from '../markdown.js'
import { lostOf, mixedLoad, type Seen } from './mixed-load.js'
import { openedCluster, type Part } from './parts.js'

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
