import type { Comparison } from './query.js'

/** Longest list in a test of which matches are kept. */
const MAX_OPERANDS = 16

/** A text that is the same for the same test; `undefined` for one with a long list, which is seldom asked again. */
export function testKey(all: readonly Comparison[]): string | undefined {
  const isShort = all.every((comparison) => comparison.op !== 'in' || comparison.operands.length <= MAX_OPERANDS)
  return isShort ? JSON.stringify(all) : undefined
}

/** How often something must be asked to be frequent. */
export interface FrequencyOptions {
  /** Default 4. */
  readonly times?: number
  /** How many keys are counted; the one that was not asked for longest is forgotten. Default 256. */
  readonly most?: number
}

/**
 * Counts questions by their keys.
 *
 * @returns Counts one question, and tells whether it was asked so often that its answer is better kept.
 */
export function createFrequency({ times = 4, most = 256 }: FrequencyOptions = {}): (key: string) => boolean {
  const asked = new Map<string, number>()
  return (key) => {
    const count = (asked.get(key) ?? 0) + 1
    asked.delete(key)
    asked.set(key, count)
    if (asked.size > most) asked.delete(asked.keys().next().value ?? '')
    return count >= times
  }
}
