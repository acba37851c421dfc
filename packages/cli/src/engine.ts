import { createContext, type Limits, type OperationContext, type Suppression } from 'fhir-ops/context'
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
export type { Engine } from './storage.js'
import { OperationError } from 'fhir-ops/errors'
import { isObject, stringAt } from 'fhir-ops/internal/json'
import { checkSuppression } from 'fhir-ops/internal/validate'
import { inputName, inputText } from './files.js'
import { checkJson, parsedJson } from './json-fault.js'

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

/**
 * Reads a file with accepted findings: a JSON array of `{"id", "at", "reason", "until"}`. Reports those that have expired.
 *
 * @throws {OperationError} `parameter-value` if the file cannot be read or is not valid; `body-invalid` if it is not JSON in UTF-8.
 */
async function readSuppressions(path: string, io: Io): Promise<readonly Suppression[]> {
  const file = inputName(path)
  const items = listIn(await inputText(path, io), file)
  const suppressions = items.map((item, index) => suppressionOf(item, `${file}, entry ${index + 1}`))
  const today = new Date().toISOString().slice(0, 'YYYY-MM-DD'.length)
  for (const { id, until } of suppressions) {
    if (until < today) io.err(`${file}: the suppression of ${id} expired on ${until}`)
  }
  return suppressions
}

function listIn(text: string, file: string): readonly unknown[] {
  checkJson(text, file)
  const value = parsedJson(text)
  if (Array.isArray(value)) return value
  throw new OperationError('parameter-value', `${file} does not contain a JSON array of suppressions.`)
}

const MEMBERS = new Set(['id', 'at', 'reason', 'until'])

function suppressionOf(item: unknown, place: string): Suppression {
  const unknown = isObject(item) ? Object.keys(item).find((name) => !MEMBERS.has(name)) : undefined
  if (!isObject(item) || unknown !== undefined) {
    throw new OperationError(
      'parameter-value',
      `${place} is not a suppression with "id", "at", "reason" and "until"${unknown === undefined ? '' : `: it has "${unknown}"`}.`,
    )
  }
  const suppression = {
    id: stringAt(item, 'id') ?? '',
    at: stringAt(item, 'at'),
    reason: stringAt(item, 'reason') ?? '',
    until: stringAt(item, 'until') ?? '',
  }
  checkSuppression(suppression)
  return suppression
}
