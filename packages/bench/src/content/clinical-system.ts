import type { JsonObject } from 'fhir-ops/internal/json'
import { drawsFrom, type Draws } from './draws.js'

/** Url of the synthetic system. */
export const CLINICAL_SYSTEM = 'http://example.org/bench/clinical'

/** Size of a synthetic system. */
export interface ClinicalShape {
  readonly concepts: number
  readonly designations: number
}

/** The size of an international edition of a clinical terminology. */
export const FULL_SHAPE: ClinicalShape = { concepts: 350_000, designations: 1_300_000 }

const DEPTH = 15
const WORDS = 30_000
/** Values of the property `kind`. */
export const KINDS = ['finding', 'disorder', 'procedure', 'structure', 'substance'] as const

/**
 * A code system like a large clinical terminology: texts of two to seven words whose frequencies are as uneven as in a natural language, several
 * parents, depth 15, two properties. The same at every call.
 */
export function clinicalSystem({ concepts, designations }: ClinicalShape): JsonObject {
  const draws = drawsFrom(20_260_101)
  const words = Array.from({ length: WORDS }, () => word(draws))
  const depths = new Uint8Array(concepts)
  const concept: JsonObject[] = []
  let made = 0
  for (let i = 0; i < concepts; i++) {
    const due = Math.floor((designations * (i + 1)) / concepts)
    const texts = Array.from({ length: due - made }, () => ({ language: draws.below(4) === 0 ? 'de' : 'en', value: phrase(draws, words) }))
    made = due
    concept.push({ code: clinicalCode(i), display: phrase(draws, words), designation: texts, property: properties(draws, depths, i) })
  }
  return {
    resourceType: 'CodeSystem',
    id: 'clinical',
    url: CLINICAL_SYSTEM,
    status: 'active',
    content: 'complete',
    property: [
      { code: 'parent', type: 'code' },
      { code: 'kind', type: 'code' },
      { code: 'module', type: 'code' },
    ],
    concept,
  }
}

/** The code of the concept at an index. */
export function clinicalCode(place: number): string {
  return String(100_000_007 + place * 31)
}

/** The index of the concept with a code. */
export function clinicalPlace(code: string): number {
  return (Number(code) - 100_000_007) / 31
}

/** Properties of a concept. Half of the concepts are one level below the previous concept, the others anywhere above the lowest level. */
function properties(draws: Draws, depths: Uint8Array, place: number): readonly JsonObject[] {
  const stated = [
    { code: 'kind', valueCode: KINDS[draws.below(KINDS.length)] ?? '' },
    { code: 'module', valueCode: `m${draws.below(12)}` },
  ]
  if (place === 0) return stated
  const parents = new Set([parentOf(draws, depths, place), ...(draws.below(3) === 0 ? [parentOf(draws, depths, place)] : [])])
  depths[place] = 1 + Math.max(...Array.from(parents, (parent) => depths[parent] ?? 0))
  return [...Array.from(parents, (parent) => ({ code: 'parent', valueCode: clinicalCode(parent) })), ...stated]
}

function parentOf(draws: Draws, depths: Uint8Array, place: number): number {
  const near = place - 1 - draws.below(Math.min(place, 40))
  const parent = draws.below(2) === 0 ? near : draws.below(Math.min(place, 2_000))
  return (depths[parent] ?? 0) < DEPTH - 1 ? parent : 0
}

function phrase(draws: Draws, words: readonly string[]): string {
  return Array.from({ length: 2 + draws.below(6) }, () => words[draws.skewed(words.length)] ?? '').join(' ')
}

const STARTS = ['b', 'c', 'd', 'f', 'g', 'h', 'l', 'm', 'n', 'p', 'r', 's', 't', 'v', 'ch', 'tr', 'pr', 'st', '']
const MIDDLES = ['a', 'e', 'i', 'o', 'u', 'y', 'ae', 'io']
const ENDS = ['', '', 'n', 'r', 's', 'l', 'm', 'ct']

function word(draws: Draws): string {
  const syllable = (): string => [STARTS, MIDDLES, ENDS].map((letters) => letters[draws.below(letters.length)] ?? '').join('')
  return Array.from({ length: 2 + draws.below(3) }, syllable).join('')
}
