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
  readonly base?: string
}

/** All of FHIR R4: definitions, search parameters, types, and the indexer made of them. */
export function r4(options: ReleaseOptions = {}): Release {
  const types = r4TypeModel()
  const parameters = searchParameters(r4SearchParameters(), types)
  return {
    definitions: [r4Definitions()],
    search: { parameters, ...options },
    types,
    indexer: createIndexer(parameters, options),
  }
}
