import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import { openOracle, type Oracle } from './ask-oracle.js'
import type { Origin } from './case.js'
import { mark, origins } from './cases.js'
import { readFacts, without, writeFacts, type OriginFacts } from './facts.js'

const FILE = fileURLToPath(new URL('../../../oracle/facts.ndjson.gz', import.meta.url))

/** What the oracle said, by the name of the origin. */
export function knownFacts(): ReadonlyMap<string, OriginFacts> {
  return new Map(readFacts(gunzipSync(readFileSync(FILE)).toString('utf8')).map((facts) => [facts.name, facts] as const))
}

/** Asks the oracle about every case, and keeps what it says. */
export async function refreshFacts(command: string): Promise<void> {
  const oracle = openOracle(command)
  const all: OriginFacts[] = []
  for (const { make } of origins()) all.push(await factsOf(oracle, await make()))
  oracle.close()
  writeFileSync(FILE, gzipSync(writeFacts(all), { level: 9 }))
}

async function factsOf(oracle: Oracle, { name, base, runs }: Origin): Promise<OriginFacts> {
  const [before, ...after] = await Promise.all([
    oracle.ask(`${name}#0`, base),
    ...runs.map(({ asked }, index) => oracle.ask(`${name}#${index + 1}`, asked)),
  ])
  return {
    name,
    mark: mark(base),
    base: before,
    runs: runs.map(({ change, number, asked }, index) => {
      const issues = after[index] ?? []
      return { change, number, mark: mark(asked), added: without(issues, before), removed: without(before, issues) }
    }),
  }
}
