import { packLayer, type ContentLayer } from 'fhir-ops/content'
import type { PackReader } from 'fhir-ops/internal/content'
import type { TypeModel } from 'fhir-ops/fhirpath'
import { isObject } from 'fhir-ops/internal/json'
import { typeModelOf } from 'fhir-ops/internal/model'
import { createIndexer, searchParameters, type SearchOptions } from 'fhir-ops/search'
import type { SearchParameterTable } from 'fhir-ops/internal/search'
import type { Indexer } from 'fhir-ops/storage'
import { checkArgument, checkOptions, FLAG, inputShape, OBJECT, TEXT, type InputShape } from 'fhir-ops/internal/input'

/** The parts of a context that belong to a FHIR release: spread it into `createContext`. */
export interface Release {
  /** FHIR's own profiles, value sets, code systems and concept maps. */
  readonly definitions: readonly ContentLayer[]
  /** FHIR's search parameters. */
  readonly search: SearchOptions
  /** Elements and types of FHIR. */
  readonly types: TypeModel
  /** Makes the index entries of resources; for `putResource`, `createHandler` and `memoryStorage`. */
  readonly indexer: Indexer
}

/** Options of `r4`, `loadR4` and `releaseOf`. */
export interface ReleaseOptions {
  /** Address of this server's FHIR base, without a trailing slash: absolute references with this base are treated as local. */
  readonly base?: string | undefined
  /** Indexes the words in resources, so that they can be searched with `_text` and `_content`. Default false, because it takes time and space. */
  readonly words?: boolean | undefined
}

const SHAPE: InputShape = inputShape<ReleaseOptions>({ base: TEXT, words: FLAG })

/** The content of this package's files. */
export interface ReleaseFiles {
  /** Bytes of `definitions.pack`, or a function that reads parts of them. */
  readonly definitions: Uint8Array | PackReader
  /** `types.json`, parsed. */
  readonly types: unknown
  /** `search-parameters.json`, parsed, or a function that returns it on first use. */
  readonly searchParameters: unknown
}

/**
 * Returns all of FHIR R4, with the same result as `r4`, from files that the host has read.
 *
 * @throws {TypeError} for anything but these files.
 */
export function releaseOf(files: ReleaseFiles, options: ReleaseOptions = {}): Release {
  checkArgument('releaseOf: files', files, OBJECT)
  checkOptions('r4', SHAPE, options)
  const { base, words } = options
  const types = typesIn(files.types)
  const { searchParameters: rows } = files
  const table = isReader(rows) ? (): SearchParameterTable => searchParametersIn(rows()) : searchParametersIn(rows)
  const parameters = searchParameters(table, types, { words })
  return {
    definitions: [packLayer(files.definitions, 'r4', { isRelease: true })],
    search: { parameters, base },
    types,
    indexer: createIndexer(parameters, { base }),
  }
}

function isReader(value: unknown): value is () => unknown {
  return typeof value === 'function'
}

/** Reads the model in `types.json`. @throws {TypeError} for anything else. */
export function typesIn(table: unknown): TypeModel {
  if (!isObject(table)) throw new TypeError('types.json must contain a JSON object.')
  return typeModelOf(table)
}

/** Reads the rows of `search-parameters.json`. @throws {TypeError} for anything else. */
export function searchParametersIn(rows: unknown): SearchParameterTable {
  if (!isTable(rows)) throw new TypeError('search-parameters.json must contain a JSON array.')
  return rows
}

function isTable(rows: unknown): rows is SearchParameterTable {
  return Array.isArray(rows)
}
