import { createHash } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import { isObject, objectsAt } from 'fhir-ops/internal/json'
import { randomOf } from '../../fuzz/random.js'
import { guideOf, guideQuestionsOf } from './guide.js'
import { questionsOf, type Question } from './questions.js'
import { worldOf, type World } from './world.js'
import { theirAnswer, type Answer } from './answers.js'

/** A world with questions about it. */
interface Case {
  readonly seed: number
  readonly world: World
  readonly questions: readonly Question[]
}

const WORLDS = 150
const GUIDES = 60

/** All cases: worlds of unlikely definitions, then guides of likely ones. */
export function cases(): readonly Case[] {
  return [
    ...Array.from({ length: WORLDS }, (_, seed) => worldCase(seed)),
    ...Array.from({ length: GUIDES }, (_, i) => guideCase(WORLDS + i)),
  ]
}

function worldCase(seed: number): Case {
  const random = randomOf(1, seed)
  const world = worldOf(random)
  return { seed, world, questions: questionsOf(random, world) }
}

function guideCase(seed: number): Case {
  const random = randomOf(1, seed)
  const world = guideOf(random)
  return { seed, world, questions: guideQuestionsOf(random, world) }
}

/** The input line of a case for the oracle. */
function lineOf({ seed, world, questions }: Case): string {
  return JSON.stringify({
    id: seed,
    resources: [...world.systems, ...world.valueSets, ...world.maps],
    questions: questions.map(({ operation, parameters }) => ({
      operation,
      parameters: { resourceType: 'Parameters', parameter: parameters },
    })),
  })
}

/** A hash of a case, which shows whether the oracle was asked about the same one. */
export function markOf(asked: Case): string {
  return createHash('sha256').update(lineOf(asked)).digest('hex').slice(0, 12)
}

/** The oracle's answers to a case. */
interface CaseFacts {
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
