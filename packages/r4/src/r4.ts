import { builtJson, builtPack } from './built-file.js'
import { releaseOf, type Release, type ReleaseOptions } from './release.js'

/** All of FHIR R4: definitions, search parameters, types, and the indexer made of them. Reads the package's files. */
export function r4(options: ReleaseOptions = {}): Release {
  const files = { definitions: builtPack(), types: builtJson('types.json'), searchParameters: builtJson('search-parameters.json') }
  return releaseOf(files, options)
}
