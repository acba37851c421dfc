import { cached, type Cache, type CacheKind } from '../../context/index.js'
import type { Definition } from '../../content/index.js'
import { objectsAt, stringAt, type JsonObject } from '../../json/index.js'
import { conceptIndex } from './concept-index.js'
import { collectConcepts } from './concept-list.js'
import { depthFirst } from './hierarchy.js'
import { statusReader, standardsStatusOf } from './concept-status.js'
import type { CodeSystemProvider, SystemHeader } from './provider.js'

const BYTES_PER_CONCEPT = 400

/** The provider over a CodeSystem resource; made once for each stored version. */
export function resourceProvider(cache: Cache, definition: Definition): CodeSystemProvider {
  return cached(cache, KIND, definition).provider
}

interface CachedProvider {
  readonly kind: 'code-system'
  readonly provider: CodeSystemProvider
}

const KIND: CacheKind<CachedProvider> = {
  name: 'code-system',
  is: (value): value is CachedProvider => 'kind' in value && value.kind === 'code-system',
  bytes: ({ provider }) => 1_000 + (provider.index?.size ?? 0) * BYTES_PER_CONCEPT,
  make: (definition) => ({ kind: 'code-system', provider: makeProvider(definition.resource) }),
}

function makeProvider(resource: JsonObject): CodeSystemProvider {
  const header = headerOf(resource)
  const list = collectConcepts(resource, header.caseSensitive)
  const { order, hierarchy } = depthFirst(list.parents)
  const concepts = Array.from(order, (old) => list.concepts[old] ?? {})
  const places = new Map(concepts.map((concept, place) => [list.keyOf(stringAt(concept, 'code') ?? ''), place]))
  const sources = concepts.map((concept) => [{ concept }])
  const readStatus = statusReader(resource)
  const status = (concept: number): ReturnType<typeof readStatus> => readStatus(concepts[concept] ?? {})
  return {
    header,
    supplements: [],
    find: (code) => places.get(list.keyOf(code)),
    code: (concept) => stringAt(concepts[concept], 'code') ?? '',
    sources: (concept) => sources[concept] ?? [],
    status,
    hierarchy,
    index: conceptIndex({ size: concepts.length, sources: (concept) => sources[concept] ?? [], status }),
  }
}

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
