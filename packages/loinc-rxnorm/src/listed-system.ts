import { OperationError } from 'fhir-ops/errors'
import { compareVersions } from 'fhir-ops/internal/content'
import { checkOptions, FUNCTION, inputShape, needed, TEXT, type InputShape } from 'fhir-ops/internal/input'
import { isObject, objectAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { listable, makeProvider, readySet, versionFits, type ImplicitType } from 'fhir-ops/internal/terminology'
import { finished, sharedWork, type Work } from 'fhir-ops/internal/work'
import type { ConceptStore, StoredSystem, SystemSections } from 'fhir-ops/storage'
import { bitmapFrom, type CodeSystemProvider, type ConceptSet, type Filter, type ImportedSystem } from 'fhir-ops/terminology'

/** Format of code systems that are stored as lists of concepts. */
const LISTED_FORMAT = 'concepts-1'

const CONCEPTS_PER_SECTION = 5_000

/** Concepts in the form of `CodeSystem.concept`, not nested: the property `parent` names parents. An array is such a sequence. */
export interface ConceptSequence extends Iterable<JsonObject> {
  readonly length: number
}

/**
 * Stores a code system as a list of concepts. It becomes visible when it is complete. Concepts are read a few thousand at a time, so a
 * sequence that generates them needs no memory for the rest.
 *
 * @param codeSystem A CodeSystem resource with url and version, without its concepts.
 * @throws {TypeError} if url or version is missing.
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

/** The specifics of a code system that is stored as a list of concepts. */
export interface ListedSystem {
  readonly url: string
  readonly name: string
  /** Returns the concepts that meet a filter specific to the system; `undefined` for filters that every system supports. */
  readonly filter?: (provider: CodeSystemProvider, filter: Filter) => ConceptSet | undefined
  /** As in `ImportedSystem`. */
  readonly implicitVersion?: ImportedSystem['implicitVersion']
  /** Returns the resource for a canonical that `implicitVersion` recognized; `undefined` if there is none. */
  readonly implicitResource?: (type: ImplicitType, canonical: string, provider: CodeSystemProvider) => JsonObject | undefined
}

const SHAPE: InputShape = inputShape<ListedSystem>({
  url: needed(TEXT),
  name: needed(TEXT),
  filter: FUNCTION,
  implicitVersion: FUNCTION,
  implicitResource: FUNCTION,
})

/**
 * Creates a code system whose releases were stored with `storeConcepts`, for `codeSystems` of a context. A release is read completely when its provider is
 * first needed.
 *
 * @throws {TypeError} for a member that is missing, unknown or of another type.
 */
export function listedSystem(system: ListedSystem): ImportedSystem {
  checkOptions('listedSystem', SHAPE, system)
  const { url, name, filter, implicitVersion, implicitResource } = system
  return {
    url,
    name,
    format: LISTED_FORMAT,
    bytesPerConcept: 1_500,
    open(sections, header) {
      const build = sharedWork(() => listedProvider(sections, header, filter))
      const provider = (): CodeSystemProvider => finished(build())
      return {
        build,
        provider,
        ...(implicitResource !== undefined && { implicitResource: (type, canonical) => implicitResource(type, canonical, provider()) }),
      }
    },
    pickVersion: pickListedVersion,
    ...(implicitVersion !== undefined && { implicitVersion }),
  }
}

function* listedProvider(sections: SystemSections, header: string, own: ListedSystem['filter']): Work<CodeSystemProvider> {
  const provider = yield* makeProvider(yield* readSystem(sections, header))
  return own === undefined ? provider : { ...provider, filter: (filter, within) => own(within, filter) }
}

/** Returns the newest version that matches the requested one, which may contain wildcards. */
export function pickListedVersion(versions: readonly string[], asked: string | undefined): string | undefined {
  const meant = versions.filter((version) => asked === undefined || versionFits(asked, version))
  return meant.toSorted((a, b) => compareVersions(inOrder(a), inOrder(b))).at(-1)
}

/** Makes versions sortable: RxNorm names them by date, with the year at the end. */
function inOrder(version: string): string {
  const [, month, day, year] = /^([01][0-9])([0-3][0-9])((?:19|20)[0-9]{2})$/.exec(version) ?? []
  return year === undefined ? version : `${year}${month}${day}`
}

function* readSystem(sections: SystemSections, header: string): Work<JsonObject> {
  const described: unknown = JSON.parse(header)
  const codeSystem = isObject(described) ? objectAt(described, 'codeSystem') : undefined
  const count = isObject(described) ? Number(described['sections']) : 0
  if (codeSystem === undefined) throw new OperationError('storage-damaged', 'The header of a stored code system cannot be read.')
  const concept: unknown[] = []
  for (let section = 0; section < count; section++) {
    concept.push(...readSection(sections.section(`concepts-${section}`)))
    yield
  }
  return { ...codeSystem, concept }
}

function readSection(bytes: Uint8Array): readonly unknown[] {
  const concepts: unknown = JSON.parse(new TextDecoder().decode(bytes))
  if (Array.isArray(concepts)) return concepts
  throw new OperationError('storage-damaged', 'A section of a stored code system cannot be read.')
}

/** Returns the concepts that have a value of a property. */
export function withValue(provider: CodeSystemProvider, property: string, value: string): ConceptSet {
  const all = listable(provider).values(property).get(value) ?? bitmapFrom([], listable(provider).size)
  return readySet(
    (concept) => all.has(concept),
    () => all,
  )
}

/** Returns the values of a filter: those between commas with `in`, otherwise the one. */
export function valuesOf(op: string, value: string): readonly string[] {
  return (op === 'in' ? value.split(',') : [value]).map((one) => one.trim())
}
