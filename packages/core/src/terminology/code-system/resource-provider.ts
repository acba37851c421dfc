import type { OperationContext } from '../../context/index.js'
import type { Definition } from '../../content/index.js'
import { objectsAt, stringAt, type JsonObject } from '../../json/index.js'
import { cachedWork, type LongKind, type Pending } from '../cached-work.js'
import type { Work } from '../../work/index.js'
import { conceptIndex } from './concept-index.js'
import { collectConcepts } from './concept-list.js'
import { depthFirst } from './hierarchy.js'
import { standardsStatusOf, statusReader } from './concept-status.js'
import type { ConceptStatus, CodeSystemProvider, ConceptSource, SystemHeader } from '../../code-system/index.js'

/** Measured over 350,000 concepts (bench `terminology`): codes, hierarchy and text index; what was parsed stays with the storage. */
const BYTES_PER_CONCEPT = 1_000

const KIND: LongKind<CodeSystemProvider> = {
  name: 'code-system',
  is: (value): value is Pending<CodeSystemProvider> => 'kind' in value && value.kind === 'code-system',
  bytes: ({ index }) => 1_000 + (index?.size ?? 0) * BYTES_PER_CONCEPT,
  make: makeProvider,
}

/** The provider over a CodeSystem resource, made once for each stored version. */
export function resourceProvider(ctx: OperationContext, definition: Definition): Promise<CodeSystemProvider> {
  return cachedWork(ctx, KIND, definition)
}

/** Makes the provider over a CodeSystem resource. */
export function* makeProvider(resource: JsonObject): Work<CodeSystemProvider> {
  const header = headerOf(resource)
  const list = yield* collectConcepts(resource, header.caseSensitive)
  const { order, hierarchy } = yield* depthFirst(list.parents)
  const sources: (readonly ConceptSource[])[] = []
  const codes: string[] = []
  const places = new Map<string, number>()
  for (const old of order) {
    const concept = list.concepts[old] ?? {}
    const code = stringAt(concept, 'code') ?? ''
    places.set(list.keyOf(code), sources.length)
    codes.push(code)
    sources.push([{ concept }])
    if (sources.length % STEPS === 0) yield
  }
  const readStatus = statusReader(resource)
  const status = (concept: number): ConceptStatus => readStatus(sources[concept]?.[0]?.concept ?? {})
  const sourcesOf = (concept: number): readonly ConceptSource[] => sources[concept] ?? []
  return {
    header,
    supplements: [],
    find: (code) => places.get(list.keyOf(code)),
    code: (concept) => codes[concept] ?? '',
    sources: sourcesOf,
    status,
    hierarchy,
    index: conceptIndex({ size: codes.length, sources: sourcesOf, status }),
  }
}

const STEPS = 1024

function headerOf(resource: JsonObject): SystemHeader {
  const [version, name, language] = ['version', 'name', 'language'].map((member) => stringAt(resource, member))
  const standardsStatus = standardsStatusOf(resource)
  const content = stringAt(resource, 'content')
  return {
    url: stringAt(resource, 'url') ?? '',
    status: stringAt(resource, 'status') ?? 'unknown',
    experimental: resource['experimental'] === true,
    complete: content !== 'fragment' && content !== 'example',
    caseSensitive: resource['caseSensitive'] !== false,
    versionNeeded: resource['versionNeeded'] === true,
    properties: new Map(objectsAt(resource, 'property').map((item) => [stringAt(item, 'code') ?? '', stringAt(item, 'uri')])),
    ...(version !== undefined && { version }),
    ...(name !== undefined && { name }),
    ...(language !== undefined && { language }),
    ...(standardsStatus !== undefined && { standardsStatus }),
  }
}
