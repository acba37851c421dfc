import type { JsonObject } from '../../json/index.js'
import { stringAt } from '../../json/index.js'
import type { ConceptStore, StoredSystem } from '../../storage/index.js'

/** Format of code systems that are kept as lists of concepts. */
export const LISTED_FORMAT = 'concepts-1'

const CONCEPTS_PER_SECTION = 5_000

/**
 * Keeps a code system as a list of concepts; nothing of it is seen before all of it is.
 *
 * @param codeSystem A CodeSystem resource with url and version, without its concepts.
 * @param concepts In the form of `CodeSystem.concept`, not nested: the property `parent` names parents.
 * @throws {TypeError} when url or version is missing.
 */
export async function storeConcepts(store: ConceptStore, codeSystem: JsonObject, concepts: readonly JsonObject[]): Promise<StoredSystem> {
  const [url, version] = [stringAt(codeSystem, 'url'), stringAt(codeSystem, 'version')]
  if (url === undefined || version === undefined) throw new TypeError('A code system that is stored needs url and version.')
  const sections = Math.ceil(concepts.length / CONCEPTS_PER_SECTION)
  const header = JSON.stringify({ sections, codeSystem })
  const staged = await store.stage({ url, version, format: LISTED_FORMAT, concepts: concepts.length, header })
  for (let section = 0; section < sections; section++) {
    const start = section * CONCEPTS_PER_SECTION
    const text = JSON.stringify(concepts.slice(start, start + CONCEPTS_PER_SECTION))
    await staged.put(`concepts-${section}`, new TextEncoder().encode(text))
  }
  return staged.publish()
}
