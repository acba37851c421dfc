import { createContext, type Limits, type OperationContext } from 'fhir-ops/context'
import { searchCodes } from 'fhir-ops/expand'
import { crossVersion } from '@fhir-ops/cross-version'
import { loinc, rxnorm } from '@fhir-ops/loinc-rxnorm'
import { r4 } from '@fhir-ops/r4'
import { registries, registryDefinitions } from '@fhir-ops/registries'
import { unitConversion, unitsOfMeasure } from '@fhir-ops/registries/ucum'
import { snomed } from '@fhir-ops/snomed'
import type { Io } from './io.js'
import { load, loadReports } from './load/loader.js'
import { filesIn, isStandardInput, readingInput, readingOf } from './load/sources.js'
import { prepare } from './load/prepare.js'
import { openStorage, type Engine, type OpenedStorage, type StorageOptions } from './storage.js'
import { readSuppressions } from './validate/read-suppressions.js'

export type { Engine } from './storage.js'

/** Options for opening the engine. */
export interface EngineOptions extends StorageOptions {
  readonly limits?: Partial<Limits>
  /** Address under which the storage is served; absolute references with this base are treated as local. */
  readonly base?: string
  /** Indexes the words in resources, so that they can be searched. */
  readonly words?: boolean | undefined
  /** True if the caller reports missing packages. */
  readonly knowsPackages?: boolean | undefined
  /** File with accepted findings of validation. */
  readonly suppress?: string
}

/** Opens the storage and loads content, reporting progress and refusals on `io.err`. */
export async function openEngine(options: EngineOptions, io: Io): Promise<Engine> {
  if (io.engine !== undefined) return { ...io.engine, close: async () => {} }
  const opened = await openStorage(options)
  try {
    return await engineOver(opened, options, io)
  } catch (error) {
    await opened.close()
    throw error
  }
}

/** Opens the engine, runs some work, and closes the engine in any case. */
export async function withEngine<T>(options: EngineOptions, io: Io, work: (engine: Engine) => Promise<T>): Promise<T> {
  const engine = await openEngine(options, io)
  try {
    return await work(engine)
  } finally {
    await engine.close()
  }
}

async function engineOver(opened: OpenedStorage, options: EngineOptions, io: Io): Promise<Engine> {
  const { indexer, search, ...release } = r4({ base: options.base, words: options.words })
  const ctx: OperationContext = createContext({
    ...release,
    definitions: [...(release.definitions ?? []), registryDefinitions()],
    codeSystems: [snomed(), loinc(), rxnorm(), ...registries(), unitsOfMeasure()],
    crossVersion: crossVersion(),
    convertUnit: unitConversion(),
    storage: opened.storage,
    ...(opened.concepts !== undefined && { concepts: opened.concepts }),
    search: { ...search, codesOf: searchCodes(() => ctx) },
    ...(options.suppress !== undefined && { validation: { suppress: await readSuppressions(options.suppress, io) } }),
    ...(options.limits !== undefined && { limits: options.limits }),
  })
  if (options.load !== undefined && options.load.length > 0) {
    const { knowsPackages } = options
    const reports = loadReports(io, { knowsPackages })
    const reading = isStandardInput(options.load) ? readingInput(io) : readingOf(await filesIn(options.load))
    await load(reading, {
      storage: opened.storage,
      prepare: (sources) => prepare(sources, indexer),
      ...reports,
    })
  }
  return { ctx, indexer, sessionStore: opened.sessions, close: opened.close }
}
