import { type JsonObject, stringAt } from 'fhir-ops/internal/json'
import type { ConceptStore, StoredSystem } from 'fhir-ops/storage'

/** Format of code systems that are kept as lists of concepts. */
export const LISTED_FORMAT = 'concepts-1'

const CONCEPTS_PER_SECTION = 5_000

/** Concepts in the form of `CodeSystem.concept`, not nested: the property `parent` names parents. An array is one. */
export interface ConceptSequence extends Iterable<JsonObject> {
  readonly length: number
}

/**
 * Keeps a code system as a list of concepts; nothing of it is seen before all of it is. Concepts are taken some thousand at a time, so that
 * a sequence which makes them on the way needs no memory for the others.
 *
 * @param codeSystem A CodeSystem resource with url and version, without its concepts.
 * @throws {TypeError} when url or version is missing.
 */
export async function storeConcepts(store: ConceptStore, codeSystem: JsonObject, concepts: ConceptSequence): Promise<StoredSystem> {
  const [url, version] = [stringAt(codeSystem, 'url'), stringAt(codeSystem, 'version')]
  if (url === undefined || version === undefined) throw new TypeError('A code system that is stored needs url and version.')
  const sections = Math.ceil(concepts.length / CONCEPTS_PER_SECTION)
  const header = JSON.stringify({ sections, codeSystem })
  const staged = await store.stage({ url, version, format: LISTED_FORMAT, concepts: concepts.length, header })
  let section = 0
  for (const some of inSections(concepts)) {
    await staged.put(`concepts-${section++}`, new TextEncoder().encode(JSON.stringify(some)))
  }
  return staged.publish()
}

function* inSections(concepts: Iterable<JsonObject>): Generator<readonly JsonObject[]> {
  let some: JsonObject[] = []
  for (const concept of concepts) {
    if (some.push(concept) < CONCEPTS_PER_SECTION) continue
    yield some
    some = []
  }
  if (some.length > 0) yield some
}
