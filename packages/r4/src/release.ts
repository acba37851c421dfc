import { packLayer, type ContentLayer, type PackReader } from 'fhir-ops/content'
import type { TypeModel } from 'fhir-ops/fhirpath'
import { createIndexer, searchParameters, type SearchOptions } from 'fhir-ops/search'
import type { Indexer } from 'fhir-ops/storage'
import { searchParametersIn, typesIn } from './file-content.js'

/** What a context needs to know of a FHIR release: spread it into `createContext`. */
export interface Release {
  readonly definitions: readonly ContentLayer[]
  readonly search: SearchOptions
  readonly types: TypeModel
  /** What resources are found by; for `putResource`, `createHandler` and `memoryStorage`. */
  readonly indexer: Indexer
}

/** Options of `r4` and `releaseOf`. */
export interface ReleaseOptions {
  /** Address of this server's FHIR base, without a slash at its end: absolute references on it are local ones. */
  readonly base?: string | undefined
  /** Whether resources are indexed, and can be searched, by the words in them (`_text`, `_content`). Default false: it takes time and space. */
  readonly words?: boolean | undefined
}

/** What the files of this package hold. */
export interface ReleaseFiles {
  /** The bytes of `definitions.pack`, or what reads parts of them. */
  readonly definitions: Uint8Array | PackReader
  /** `types.json`, parsed. */
  readonly types: unknown
  /** `search-parameters.json`, parsed. */
  readonly searchParameters: unknown
}

/**
 * All of FHIR R4, as `r4` gives it, of files that the host has brought: for browsers and others that have no file system.
 *
 * @throws {TypeError} for something else than these files.
 */
export function releaseOf(files: ReleaseFiles, { base, words }: ReleaseOptions = {}): Release {
  const types = typesIn(files.types)
  const parameters = searchParameters(searchParametersIn(files.searchParameters), types, { words })
  return {
    definitions: [packLayer(files.definitions, 'r4')],
    search: { parameters, base },
    types,
    indexer: createIndexer(parameters, { base }),
  }
}
