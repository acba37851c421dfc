import { packLayer, type ContentLayer } from 'fhir-ops/content'
import type { TypeModel } from 'fhir-ops/fhirpath'
import { SPREAD_THE_RESULT } from 'fhir-ops/internal/input'
import type { SearchParameterTable } from 'fhir-ops/internal/search'
import { packageFiles } from './package-files.js'
import { releaseOf, searchParametersIn, typesIn, type Release, type ReleaseOptions } from './release.js'

/**
 * Returns all of FHIR R4: definitions, search parameters, types, and the indexer for them. Reads the package's files synchronously, in Node, Bun
 * and Deno. `loadR4` also works in browsers and on the edge.
 *
 * @throws {TypeError} in a runtime without a file system, and on Node versions that are too old.
 */
export function r4(options: ReleaseOptions = {}): Release {
  const files = packageFiles('r4')
  return releaseOf(
    {
      definitions: files.pack(),
      types: files.json('types.json'),
      searchParameters: () => files.json('search-parameters.json'),
    },
    options,
  )
}

// Makes `createContext({ storage, ...r4 })` fail with a message that names the mistake; otherwise the context would have no definitions.
Object.defineProperty(r4, SPREAD_THE_RESULT, { value: 'r4 was not called. Use { ...r4() }.', enumerable: true })

/**
 * Returns the StructureDefinitions, ValueSets, CodeSystems (including v2 and v3), SearchParameters, CompartmentDefinitions and OperationDefinitions of
 * FHIR 4.0.1, without narrative and other documentation. Opens the pack; each definition is read and parsed when it is needed.
 *
 * @throws {TypeError} as `r4`.
 */
export function r4Definitions(): ContentLayer {
  return packLayer(packageFiles('r4Definitions').pack(), 'r4', { isRelease: true })
}

/** Returns the 1,400 search parameters of FHIR 4.0.1, ordered by url. @throws {TypeError} as `r4`. */
export function r4SearchParameters(): SearchParameterTable {
  return searchParametersIn(packageFiles('r4SearchParameters').json('search-parameters.json'))
}

/** Returns the model of the resource types, data types and nested elements of FHIR 4.0.1. @throws {TypeError} as `r4`. */
export function r4TypeModel(): TypeModel {
  return typesIn(packageFiles('r4TypeModel').json('types.json'))
}
