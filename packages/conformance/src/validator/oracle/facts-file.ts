import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { isObject, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import type { Origin, Case } from './case.js'
import { mark, type Planned } from './cases.js'
import { readFacts, without, writeFacts, type OriginFacts } from './facts.js'
import { placeOf, severityOf, type Issue } from './issue.js'

/** Facts about resources and profiles of the release, and about examples of packages. */
type FactsName = 'release' | 'packages'

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

/** The oracle as a running program. */
interface Oracle {
  readonly ask: (id: string, asked: Case) => Promise<readonly Issue[]>
  readonly close: () => void
}

/** Starts the oracle with a shell command, which reads requests and writes answers, one line each. */
function openOracle(command: string): Oracle {
  const program = spawn(command, { shell: true, stdio: ['pipe', 'pipe', 'ignore'] })
  const waiting: ((line: string) => void)[] = []
  createInterface({ input: program.stdout }).on('line', (line) => waiting.shift()?.(line))
  return {
    ask: async (id, { text, profile }) => {
      const request = { id, text, ...(profile !== undefined && { profiles: [profile['url']], definitions: [profile] }) }
      const line = await new Promise<string>((resolve) => {
        waiting.push(resolve)
        program.stdin.write(`${JSON.stringify(request)}\n`)
      })
      return issuesIn(JSON.parse(line))
    },
    close: () => program.stdin.end(),
  }
}

/** Reads the issues of an answer. Those of severity information are not compared. An exception in the validator counts as an error without a place. */
function issuesIn(answer: unknown): readonly Issue[] {
  if (!isObject(answer)) throw new TypeError('The oracle gave no object.')
  if (answer['failure'] !== undefined) return [{ severity: 'error', place: '', rule: 'exception' }]
  const issues = objectsAt(answer, 'issues').filter(({ severity }) => severity !== 'information')
  return issues.map((issue) => ({
    severity: severityOf(stringAt(issue, 'severity') ?? ''),
    place: placeOf(stringAt(issue, 'expression') ?? ''),
    rule: stringAt(issue, 'id') ?? withoutId(issue),
  }))
}

/** The rule of a finding of the JSON parser, which has no message id: its text without quoted parts. */
function withoutId(issue: JsonObject): string {
  const text = (stringAt(issue, 'text') ?? '').replaceAll(/'[^']*'/g, "''")
  return `json: ${text.slice(0, 40)}`
}
