import { objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { withCheckDigit, type Rf2Kind } from '@fhir-ops/snomed'
import { clinicalPlace, KINDS } from './clinical-system.js'

/** A row of a release file. */
export type ReleaseRow = readonly [kind: Rf2Kind, row: readonly string[]]

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
export const KIND_ATTRIBUTE = withCheckDigit('90000000')

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
