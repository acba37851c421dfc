import { type JsonObject, objectsAt, stringAt } from 'fhir-ops/internal/json'
import { withCheckDigit, type Rf2Kind } from '@fhir-ops/snomed'
import { drawsFrom, type Draws } from './draws.js'

/** Url of the synthetic system. */
export const CLINICAL_SYSTEM = 'http://example.org/bench/clinical'

/** Size of a synthetic system. */
interface ClinicalShape {
  readonly concepts: number
  readonly designations: number
}

/** The size of an international edition of a clinical terminology. */
export const FULL_SHAPE: ClinicalShape = { concepts: 350_000, designations: 1_300_000 }

const DEPTH = 15
const WORDS = 30_000
/** Values of the property `kind`. */
const KINDS = ['finding', 'disorder', 'procedure', 'structure', 'substance'] as const

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
function clinicalPlace(code: string): number {
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

/** A row of a release file. */
type ReleaseRow = readonly [kind: Rf2Kind, row: readonly string[]]

/** The version of the release. */
export const RELEASE_VERSION = 'http://snomed.info/sct/900000000000207008/version/20260101'

const [DATE, MODULE, US] = ['20260101', '900000000000207008', '900000000000509007']
const [ROOT, IS_A, MODEL_ATTRIBUTE] = ['138875005', '116680003', '410662002']
const [PRIMITIVE, SYNONYM, PREFERRED, ACCEPTABLE] = ['900000000000074008', '900000000000013009', '900000000000548007', '900000000000549004']
const [INFERRED, ANY_CASE] = ['900000000000011006', '900000000000448009']

/** Id of the concept at an index of the synthetic system; longer than the ids of the frame. */
export function releaseId(place: number): string {
  return withCheckDigit(`${place + 1_000_000}00`)
}

/** The attribute for the property `kind`. */
export const KIND_ATTRIBUTE: string = withCheckDigit('90000000')

/** The concept for a kind, below the root of the system. */
export function kindId(kind: string): string {
  return releaseId(1 + KINDS.findIndex((known) => known === kind))
}

/**
 * The synthetic system as rows of an RF2 snapshot, grouped by kind of file: displays become preferred synonyms, designations acceptable ones, and the
 * property `kind` a relationship.
 *
 * @yields each row once
 */
export function* releaseRows(concepts: readonly JsonObject[]): Generator<ReleaseRow> {
  const frame = [ROOT, IS_A, MODEL_ATTRIBUTE, KIND_ATTRIBUTE]
  const ids = concepts.map((_, place) => releaseId(place))
  for (const id of [...frame, ...ids]) yield ['concept', [id, DATE, '1', MODULE, PRIMITIVE]]
  for (const [id, owner, language, text] of descriptions(concepts)) {
    yield ['description', [id, DATE, '1', MODULE, owner, language, SYNONYM, text, ANY_CASE]]
  }
  yield* relationships(concepts)
  for (const [id, , , , preferred] of descriptions(concepts)) {
    yield ['language', [`l${id}`, DATE, '1', MODULE, US, id, preferred ? PREFERRED : ACCEPTABLE]]
  }
}

type Described = readonly [id: string, owner: string, language: string, text: string, preferred: boolean]

function* descriptions(concepts: readonly JsonObject[]): Generator<Described> {
  let number = 0
  for (const [place, concept] of concepts.entries()) {
    const own = { language: 'en', value: stringAt(concept, 'display') }
    for (const text of [own, ...objectsAt(concept, 'designation')]) {
      const id = withCheckDigit(`${10_000 + number++}01`)
      yield [id, releaseId(place), stringAt(text, 'language') ?? 'en', stringAt(text, 'value') ?? '', text === own]
    }
  }
}

function* relationships(concepts: readonly JsonObject[]): Generator<ReleaseRow> {
  let number = 0
  const row = (source: string, type: string, target: string): ReleaseRow => {
    const id = withCheckDigit(`${10_000 + number++}02`)
    return ['relationship', [id, DATE, '1', MODULE, source, target, '0', type, INFERRED, '']]
  }
  yield row(MODEL_ATTRIBUTE, IS_A, ROOT)
  yield row(KIND_ATTRIBUTE, IS_A, MODEL_ATTRIBUTE)
  yield row(releaseId(0), IS_A, ROOT)
  for (const [place, concept] of concepts.entries()) {
    for (const property of objectsAt(concept, 'property')) {
      const [code, value = ''] = [stringAt(property, 'code'), stringAt(property, 'valueCode')]
      if (code === 'parent') yield row(releaseId(place), IS_A, releaseId(clinicalPlace(value)))
      if (code === 'kind') yield row(releaseId(place), KIND_ATTRIBUTE, kindId(value))
    }
  }
}
