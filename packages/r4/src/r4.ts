import { packLayer, type ContentLayer } from 'fhir-ops/content'
import type { TypeModel } from 'fhir-ops/fhirpath'
import { SPREAD_THE_RESULT } from 'fhir-ops/internal/input'
import type { SearchParameterTable } from 'fhir-ops/internal/search'
import { packageFiles } from './package-files.js'
import { releaseOf, searchParametersIn, typesIn, type Release, type ReleaseOptions } from './release.js'

/**
 * All of FHIR R4: definitions, search parameters, types, and the indexer made of them. Reads the package's files, synchronously: in Node, Bun
 * and Deno. `loadR4` works in browsers and on the edge too.
 *
 * @throws {TypeError} where there is no file system, and on a Node that is too old.
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

// So that `createContext({ storage, ...r4 })` is refused by name; without it the context would have no definitions.
Object.defineProperty(r4, SPREAD_THE_RESULT, { value: 'r4 was not called. Use { ...r4() }.', enumerable: true })

/**
 * The StructureDefinitions, ValueSets, CodeSystems (v2 and v3 too), SearchParameters, CompartmentDefinitions and OperationDefinitions of
 * FHIR 4.0.1, without narrative and other documentation. Opens the pack; a definition is read and parsed when it is asked for.
 *
 * @throws {TypeError} as `r4`.
 */
export function r4Definitions(): ContentLayer {
  return packLayer(packageFiles('r4Definitions').pack(), 'r4', { isRelease: true })
}

/** The 1,400 search parameters of FHIR 4.0.1, ordered by url. @throws {TypeError} as `r4`. */
export function r4SearchParameters(): SearchParameterTable {
  return searchParametersIn(packageFiles('r4SearchParameters').json('search-parameters.json'))
}

/** The resource types, data types and nested elements of FHIR 4.0.1. @throws {TypeError} as `r4`. */
export function r4TypeModel(): TypeModel {
  return typesIn(packageFiles('r4TypeModel').json('types.json'))
}
