import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Command } from 'commander'
import { OperationError } from 'fhir-ops/errors'
import type { JsonObject } from 'fhir-ops/internal/json'
import { putResource, type ConceptStore, type Storage, type StoredSystem } from 'fhir-ops/storage'
import { r4 } from '@fhir-ops/r4'
import { openStorage, sqliteFile } from '../storage.js'
import { importLoinc, importRxnorm } from '@fhir-ops/loinc-rxnorm/import'
import { importSnomed, type SnomedImportOptions } from '@fhir-ops/snomed/import'
import type { WorkOptions } from '@fhir-ops/releases'
import { noFile } from '../files.js'
import type { Io } from '../io.js'
import { withProgress, type ReportProgress } from '../progress.js'
import { repeated } from './options.js'

interface TargetOptions {
  readonly storage: string
  readonly work?: string
}

interface ReleaseOptions extends TargetOptions {
  readonly release?: string
}

type SnomedOptions = TargetOptions & Omit<SnomedImportOptions, keyof WorkOptions>

interface LoincOptions extends ReleaseOptions {
  readonly language?: readonly string[]
}

/** `fhir-ops import`. */
export function importCommand(io: Io): Command {
  const snomed = intoStorage('snomed')
    .description('Import an RF2 snapshot of SNOMED CT. Versions are kept side by side; importing one again replaces it.')
    .option('--edition <module>', 'module id of the edition; default: derived from the module dependencies of the release')
    .option('--date <YYYYMMDD>', 'date of the release; default: from the file names')
    .option('--experimental', 'content that is not an official release: its version begins with http://snomed.info/xsct')
    .addHelpText('after', '\nExample:\n  fhir-ops import snomed SnomedCT_Release.zip --storage sqlite:content.db')
    .action((path: string, options: SnomedOptions) => snomedIntoStorage(path, options, io))
  const releases = new Command('import')
  return releases
    .description('Import a code system that is too large to be a resource.')
    .on('command:*', ([name = '']: readonly string[]) => releases.error(`error: unknown command '${name}'\n(${OTHER_SYSTEMS})`))
    .addCommand(snomed)
    .addCommand(loincCommand(io))
    .addCommand(rxnormCommand(io))
    .addHelpText(
      'after',
      '\nExample:\n  fhir-ops import snomed SnomedCT_Release.zip --storage sqlite:content.db\n  fhir-ops import loinc Loinc_2.82.zip --storage sqlite:content.db',
    )
}

const OTHER_SYSTEMS =
  'releases of snomed, loinc and rxnorm can be imported; load any other code system as a CodeSystem resource or FHIR package: fhir-ops load FILE'

/** A command that imports a path into a storage, resuming an earlier aborted run. */
function intoStorage(name: string): Command {
  return new Command(name)
    .argument('<path>', 'folder or ZIP archive of the release', existing)
    .requiredOption('--storage <storage>', 'sqlite:FILE or postgres:URL')
    .option('--work <file>', `work file: an import that was aborted resumes from it (default: FILE-import-${name})`)
}

function existing(path: string): string {
  if (!existsSync(path)) throw noFile(path)
  return path
}

async function snomedIntoStorage(path: string, options: SnomedOptions, io: Io): Promise<void> {
  const run: Import['run'] = async ({ concepts }, work) => {
    const { edition, date, experimental } = options
    const { system, dangling } = await importSnomed(concepts, path, { edition, date, experimental, ...work })
    if (dangling > 0) io.err(`${dangling} relationships refer to a concept that is not in the release; they were left out`)
    return system
  }
  await importInto({ system: 'snomed', run }, options, io)
}

function loincCommand(io: Io): Command {
  return intoStorage('loinc')
    .description('Import a release of LOINC in CSV: codes, parts, answer lists, hierarchy, and the map of codes that were replaced.')
    .option('--release <version>', 'such as 2.82; default: from a file name such as Loinc_2.82')
    .option('--language <tag>', 'names in this language too, such as de-DE, or all; repeatable', repeated)
    .addHelpText('after', '\nExample:\n  fhir-ops import loinc Loinc_2.82.zip --storage sqlite:content.db')
    .action((path: string, options: LoincOptions) => loincIntoStorage(path, options, io))
}

async function loincIntoStorage(path: string, options: LoincOptions, io: Io): Promise<void> {
  const { release, language: languages } = options
  const run: Import['run'] = async ({ storage, concepts }, work) => {
    const { system, mapTo } = await importLoinc(concepts, path, { release, languages, ...work })
    if (mapTo !== undefined) await keepResource(storage, mapTo)
    return system
  }
  await importInto({ system: 'loinc', run }, options, io)
}

function rxnormCommand(io: Io): Command {
  return intoStorage('rxnorm')
    .description('Import a release of RxNorm in RRF: concepts, names, term types, semantic types, relationships.')
    .option('--release <MMDDYYYY>', 'date of the release; default: from a file name such as RxNorm_full_11032025')
    .addHelpText('after', '\nExample:\n  fhir-ops import rxnorm RxNorm_full_11032025.zip --storage sqlite:content.db')
    .action((path: string, options: ReleaseOptions) => rxnormIntoStorage(path, options, io))
}

async function rxnormIntoStorage(path: string, options: ReleaseOptions, io: Io): Promise<void> {
  const { release } = options
  await importInto({ system: 'rxnorm', run: async ({ concepts }, work) => importRxnorm(concepts, path, { release, ...work }) }, options, io)
}

async function keepResource(storage: Storage, resource: JsonObject): Promise<void> {
  const [type, id] = [String(resource['resourceType']), String(resource['id'])]
  await storage.write([putResource({ type, id, source: JSON.stringify(resource) }, r4().indexer)])
}

interface Target {
  readonly storage: Storage
  readonly concepts: ConceptStore
}

interface Import {
  /** Part of the name of the work file. */
  readonly system: string
  readonly run: (target: Target, work: WorkOptions) => Promise<StoredSystem>
}

/** Prefix of messages about rows. */
const ROWS = '… '

/** On a terminal, shows the number of rows next to the progress bar; prints other messages permanently. */
function importProgress({ draw, err }: Io, report: ReportProgress): (message: string) => void {
  return (message) => {
    if (draw === undefined || !message.startsWith(ROWS)) return err(message)
    const percent = /(\d{1,3}) %/.exec(message)?.[1]
    report({ note: message.slice(ROWS.length), share: percent === undefined ? undefined : Number(percent) / 100 })
  }
}

/**
 * Opens the storage for an import, and prints which version was imported. A new SQLite file does not remain if the import cannot begin, because the
 * release cannot be read.
 */
async function importInto({ system, run }: Import, options: TargetOptions, io: Io): Promise<void> {
  const file = sqliteFile(options.storage)
  const { work = `${file ?? 'fhir-ops'}-import-${system}` } = options
  const made = file !== undefined && !existsSync(file) ? file : undefined
  const { storage, concepts, close } = await openStorage({ storage: options.storage, create: true })
  let isImported = false
  try {
    if (concepts === undefined) throw new OperationError('parameter-value', '--storage must be sqlite:FILE or postgres:URL.')
    const { version } = await withProgress(io, `importing ${system}`, (report) =>
      run({ storage, concepts }, { work, progress: importProgress(io, report) }),
    )
    isImported = true
    io.out(version)
  } finally {
    await close()
    // An import that has begun has a work file until it is done.
    if (made !== undefined && !isImported && !existsSync(work)) await removeDatabase(made)
  }
}

/** Removes a SQLite file with its log and index of the log, which remain if another thread is still closing its connection. */
async function removeDatabase(file: string): Promise<void> {
  for (const suffix of ['', '-wal', '-shm']) await rm(`${file}${suffix}`, { force: true })
}
