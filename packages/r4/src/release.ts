import type { ContentLayer } from 'fhir-ops/content'
import type { TypeModel } from 'fhir-ops/fhirpath'
import { createIndexer, searchParameters, type SearchOptions } from 'fhir-ops/search'
import type { Indexer } from 'fhir-ops/storage'
import { r4Definitions } from './definitions.js'
import { r4SearchParameters } from './search-parameters.js'
import { r4TypeModel } from './type-model.js'

/** What a context needs to know of a FHIR release: spread it into `createContext`. */
export interface Release {
  readonly definitions: readonly ContentLayer[]
  readonly search: SearchOptions
  readonly types: TypeModel
  /** What resources are found by; for `putResource`, `createHandler` and `memoryStorage`. */
  readonly indexer: Indexer
}

/** Options of `r4`. */
export interface ReleaseOptions {
  /** Address of this server's FHIR base, without a slash at its end: absolute references on it are local ones. */
  readonly base?: string | undefined
  /** Whether resources are indexed, and can be searched, by the words in them (`_text`, `_content`). Default false: it takes time and space. */
  readonly words?: boolean | undefined
}

/** All of FHIR R4: definitions, search parameters, types, and the indexer made of them. */
export function r4({ base, words }: ReleaseOptions = {}): Release {
  const types = r4TypeModel()
  const parameters = searchParameters(r4SearchParameters(), types, { words })
  return {
    definitions: [r4Definitions()],
    search: { parameters, base },
    types,
    indexer: createIndexer(parameters, { base }),
  }
}
