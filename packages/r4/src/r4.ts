import { SPREAD_THE_RESULT } from 'fhir-ops/input'
import { builtJson, builtPack } from './built-file.js'
import { releaseOf, type Release, type ReleaseOptions } from './release.js'

/** All of FHIR R4: definitions, search parameters, types, and the indexer made of them. Reads the package's files. */
export function r4(options: ReleaseOptions = {}): Release {
  const files = { definitions: builtPack(), types: builtJson('types.json'), searchParameters: builtJson('search-parameters.json') }
  return releaseOf(files, options)
}

// So that `createContext({ storage, ...r4 })` is refused by name; without it the context would have no definitions.
Object.defineProperty(r4, SPREAD_THE_RESULT, { value: 'r4', enumerable: true })
