import { statSync } from 'node:fs'
import { createContext, type Limits, type OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { searchCodes } from 'fhir-ops/expand'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import type { ConceptStore, Indexer, SessionStore, Storage } from 'fhir-ops/storage'
import { httpStorage } from '@fhir-ops/http'
import { loinc, rxnorm } from '@fhir-ops/loinc-rxnorm'
import { r4 } from '@fhir-ops/r4'
import { registries, registryDefinitions } from '@fhir-ops/registries'
import { unitConversion, unitsOfMeasure } from '@fhir-ops/registries/ucum'
import { snomed } from '@fhir-ops/snomed'
import { openSqlite, openSqliteToFill } from '@fhir-ops/sqlite'
import type { Io } from './io.js'
import { load } from './load/loader.js'
import { prepare } from './load/prepare.js'
import { reportLoad, reportProgress } from './load/report.js'
import { isPlainAddress } from './plain-address.js'
import { openPostgresUrl, postgresUrl } from './postgres.js'
import { readSuppressions } from './validate/read-suppressions.js'

/** What commands work with: a storage, the R4 definitions below it, and the sessions beside it. */
export interface Engine {
  readonly ctx: OperationContext
  readonly indexer: Indexer
  readonly sessionStore: SessionStore
  readonly close: () => Promise<void>
}

export interface EngineOptions {
  /** `memory`, `sqlite:FILE`, `postgres:URL` or `http:URL`. */
  readonly storage: string
  /** Make a SQLite file that does not exist; also done when there is something to load into it. Else it is refused. */
  readonly create?: boolean
  /** Nothing is searched for before the storage is closed: a SQLite file gets its indexes then (`openSqliteToFill`). */
  readonly toFill?: boolean
  readonly limits?: Partial<Limits>
  /** Address that the storage is served at; absolute references on it are local ones. */
  readonly base?: string
  /** Index the words of resources, and search by them. */
  readonly words?: boolean | undefined
  /** File with findings of validation that are accepted. */
  readonly suppress?: string
  /** Gives the token of the caller whose request is being served: an upstream server is asked with it. */
  readonly callerToken?: (() => string | undefined) | undefined
  /** Files and folders to load before anything else. */
  readonly load?: readonly string[]
}

/** Opens the storage, loads what is to be loaded, with progress and refusals on `io.err`. */
export async function openEngine(options: EngineOptions, io: Io): Promise<Engine> {
  const opened = await openStorage(options)
  try {
    return await engineOver(opened, options, io)
  } catch (error) {
    await opened.close()
    throw error
  }
}

async function engineOver(opened: OpenedStorage, options: EngineOptions, io: Io): Promise<Engine> {
  const { indexer, search, ...release } = r4({ base: options.base, words: options.words })
  const ctx: OperationContext = createContext({
    ...release,
    definitions: [...(release.definitions ?? []), registryDefinitions()],
    codeSystems: [snomed(), loinc(), rxnorm(), ...registries(), unitsOfMeasure()],
    convertUnit: unitConversion(),
    storage: opened.storage,
    ...(opened.concepts !== undefined && { concepts: opened.concepts }),
    search: { ...search, codesOf: searchCodes(() => ctx) },
    ...(options.suppress !== undefined && { validation: { suppress: await readSuppressions(options.suppress, io) } }),
    ...(options.limits !== undefined && { limits: options.limits }),
  })
  if (options.load !== undefined && options.load.length > 0) {
    const { storage } = opened
    await load(options.load, {
      storage,
      prepare: (sources) => prepare(sources, indexer),
      onProgress: (progress) => reportProgress(progress, io),
      onEnd: (summary) => reportLoad(summary, io),
    })
  }
  return { ctx, indexer, sessionStore: opened.sessions, close: opened.close }
}

/** A storage with what is kept beside its resources. */
export interface OpenedStorage {
  readonly storage: Storage
  readonly sessions: SessionStore
  readonly concepts?: ConceptStore
  readonly close: () => Promise<void>
}

/** Opens the storage that the option names. @throws {OperationError} `parameter-value` when it names none. */
export async function openStorage({
  storage: option,
  load: toLoad = [],
  create = toLoad.length > 0,
  toFill = false,
  callerToken,
}: EngineOptions): Promise<OpenedStorage> {
  if (option === 'memory') return beside(memoryStorage())
  const file = sqliteFile(option)
  if (file !== undefined) {
    if (!create) checkExists(file)
    return toFill ? openSqliteToFill(file) : openSqlite(file)
  }
  const database = postgresUrl(option)
  if (database !== undefined) return openPostgresUrl(database)
  const upstream = option.replace(/^http:(?=https?:)/, '')
  if (isPlainAddress(upstream)) return beside(httpStorage({ baseUrl: upstream, callerToken }))
  // The value is not repeated: it may have a password.
  throw new OperationError('parameter-value', `--storage must be memory, sqlite:FILE, postgres:URL, or http:URL without user and query.`)
}

/** The file in `sqlite:FILE`, for what works with no other storage. @throws {OperationError} `parameter-value` when it is not there. */
export function existingSqliteFile(option: string): string {
  const file = sqliteFile(option)
  if (file === undefined) throw new OperationError('parameter-value', '--storage must be sqlite:FILE.')
  checkExists(file)
  return file
}

function checkExists(file: string): void {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) throw new OperationError('parameter-value', `There is no file ${file}.`)
}

/** The file in `sqlite:FILE`. */
export function sqliteFile(option: string): string | undefined {
  return option.startsWith('sqlite:') && option.length > 'sqlite:'.length ? option.slice('sqlite:'.length) : undefined
}

/** A storage without sessions of its own: they live as long as the process. */
function beside(storage: Storage): OpenedStorage {
  return { storage, sessions: memorySessionStore(), close: () => storage.close() }
}
