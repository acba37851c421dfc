import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import { isObject, objectsAt } from 'fhir-ops/internal/json'
import { theirAnswer, type Answer } from './answers.js'
import { lineOf, markOf, type Case } from './cases.js'

/** The oracle's answers to a case. */
export interface CaseFacts {
  readonly seed: number
  readonly mark: string
  readonly answers: readonly Answer[]
}

const FILE = fileURLToPath(new URL('../../../oracle/terminology.ndjson.gz', import.meta.url))

/** The oracle's answers, by seed. */
export function knownFacts(): ReadonlyMap<number, CaseFacts> {
  const lines = gunzipSync(readFileSync(FILE)).toString('utf8').trimEnd().split('\n')
  return new Map(
    lines.map((line): [number, CaseFacts] => {
      const facts: CaseFacts = JSON.parse(line)
      return [facts.seed, facts]
    }),
  )
}

/** Asks the oracle, a shell command, about every case, and stores its answers. */
export function refreshFacts(command: string, asked: readonly Case[]): void {
  const said = execFileSync(command, {
    shell: true,
    input: `${asked.map(lineOf).join('\n')}\n`,
    maxBuffer: 1e9,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const lines = said.toString('utf8').trimEnd().split('\n')
  const facts = asked.map((one, index): CaseFacts => {
    const answer: unknown = JSON.parse(lines[index] ?? '')
    const answers = isObject(answer) ? objectsAt(answer, 'answers').map(theirAnswer) : []
    return { seed: one.seed, mark: markOf(one), answers }
  })
  writeFileSync(FILE, gzipSync(facts.map((one) => `${JSON.stringify(one)}\n`).join(''), { level: 9 }))
}
