import { createHash } from 'node:crypto'
import { randomOf } from '../../fuzz/random.js'
import { guideOf, guideQuestionsOf } from './guide.js'
import { questionsOf, type Question } from './questions.js'
import { worldOf, type World } from './world.js'

/** A world with questions about it. */
export interface Case {
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
export function lineOf({ seed, world, questions }: Case): string {
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
