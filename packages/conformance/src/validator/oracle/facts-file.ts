import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import { openOracle, type Oracle } from './ask-oracle.js'
import type { Origin } from './case.js'
import { mark, type Planned } from './cases.js'
import { readFacts, without, writeFacts, type OriginFacts } from './facts.js'

/** Facts about resources and profiles of the release, and about examples of packages. */
export type FactsName = 'release' | 'packages'

const FILES: Readonly<Record<FactsName, string>> = {
  release: fileURLToPath(new URL('../../../oracle/facts.ndjson.gz', import.meta.url)),
  packages: fileURLToPath(new URL('../../../oracle/package-facts.ndjson.gz', import.meta.url)),
}

/** The oracle's answers, by the name of the origin. */
export function knownFacts(name: FactsName): ReadonlyMap<string, OriginFacts> {
  return new Map(readFacts(gunzipSync(readFileSync(FILES[name])).toString('utf8')).map((facts) => [facts.name, facts] as const))
}

/** Asks the oracle about every case, and stores its answers. */
export async function refreshFacts(name: FactsName, planned: readonly Planned[], command: string): Promise<void> {
  const oracle = openOracle(command)
  const all: OriginFacts[] = []
  for (const { make } of planned) all.push(await factsOf(oracle, await make()))
  oracle.close()
  writeFileSync(FILES[name], gzipSync(writeFacts(all), { level: 9 }))
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
