import { Command } from 'commander'
import { OperationError } from 'fhir-ops/errors'
import type { JsonObject } from 'fhir-ops/json'
import { putResource, type Storage } from 'fhir-ops/storage'
import { r4 } from '@fhir-ops/r4'
import { openSqlite, type SqliteFile } from '@fhir-ops/sqlite'
import { importLoinc } from '../import/import-loinc.js'
import { importRxnorm } from '../import/import-rxnorm.js'
import { importSnomed, type SnomedImportOptions } from '../import/import-snomed.js'
import type { Io } from '../io.js'
import { repeated } from './options.js'

interface ImportOptions extends Omit<SnomedImportOptions, 'progress'> {
  readonly storage: string
}

/** `fhir-ops import`. */
export function importCommand(io: Io): Command {
  const snomed = new Command('snomed')
    .description('Import an RF2 snapshot of SNOMED CT. Versions stand side by side; importing one again replaces it.')
    .argument('<path>', 'folder or ZIP archive of the release')
    .requiredOption('--storage <storage>', 'sqlite:FILE')
    .option('--edition <module>', 'module of the edition; told by the file names of the international edition')
    .option('--date <YYYYMMDD>', 'date of the release; told by the file names')
    .option('--experimental', 'content that is no official release: its version begins with http://snomed.info/xsct')
    .addHelpText('after', '\nExample:\n  fhir-ops import snomed SnomedCT_Release.zip --storage sqlite:content.db')
    .action((path: string, options: ImportOptions) => intoStorage(path, options, io))
  return new Command('import')
    .description('Import a code system that is too large to be a resource.')
    .addCommand(snomed)
    .addCommand(loincCommand(io))
    .addCommand(rxnormCommand(io))
    .addHelpText(
      'after',
      '\nExample:\n  fhir-ops import snomed SnomedCT_Release.zip --storage sqlite:content.db\n  fhir-ops import loinc Loinc_2.82.zip --storage sqlite:content.db',
    )
}

interface ReleaseOptions {
  readonly storage: string
  readonly release?: string
}

function loincCommand(io: Io): Command {
  return new Command('loinc')
    .description('Import a release of LOINC in CSV: codes, parts, answer lists, hierarchy, and the map of codes that were replaced.')
    .argument('<path>', 'folder or ZIP archive of the release')
    .requiredOption('--storage <storage>', 'sqlite:FILE')
    .option('--release <version>', 'such as 2.82; told by the name Loinc_2.82')
    .option('--language <tag>', 'names in this language too, such as de-DE, or all; repeatable', repeated)
    .addHelpText('after', '\nExample:\n  fhir-ops import loinc Loinc_2.82.zip --storage sqlite:content.db')
    .action((path: string, options: LoincOptions) => loincIntoStorage(path, options, io))
}

interface LoincOptions extends ReleaseOptions {
  readonly language?: readonly string[]
}

async function loincIntoStorage(path: string, { storage, release, language }: LoincOptions, io: Io): Promise<void> {
  const file = await openFile(storage)
  try {
    const { system, mapTo } = await importLoinc(file.concepts, path, {
      release,
      languages: language,
      progress: (message) => io.err(message),
    })
    if (mapTo !== undefined) await keepResource(file.storage, mapTo)
    io.out(system.version)
  } finally {
    await file.close()
  }
}

function rxnormCommand(io: Io): Command {
  return new Command('rxnorm')
    .description('Import a release of RxNorm in RRF: concepts, names, term types, semantic types, relationships.')
    .argument('<path>', 'folder or ZIP archive of the release')
    .requiredOption('--storage <storage>', 'sqlite:FILE')
    .option('--release <MMDDYYYY>', 'date of the release; told by the name RxNorm_full_11032025')
    .addHelpText('after', '\nExample:\n  fhir-ops import rxnorm RxNorm_full_11032025.zip --storage sqlite:content.db')
    .action((path: string, options: ReleaseOptions) => rxnormIntoStorage(path, options, io))
}

async function rxnormIntoStorage(path: string, { storage, release }: ReleaseOptions, io: Io): Promise<void> {
  const file = await openFile(storage)
  try {
    const { version } = await importRxnorm(file.concepts, path, { release, progress: (message) => io.err(message) })
    io.out(version)
  } finally {
    await file.close()
  }
}

async function keepResource(storage: Storage, resource: JsonObject): Promise<void> {
  const [type, id] = [String(resource['resourceType']), String(resource['id'])]
  await storage.write([putResource({ type, id, source: JSON.stringify(resource) }, r4().indexer)])
}

function openFile(storage: string): Promise<SqliteFile> {
  if (!storage.startsWith('sqlite:')) throw new OperationError('parameter-value', '--storage must be sqlite:FILE.')
  return openSqlite(storage.slice('sqlite:'.length))
}

async function intoStorage(path: string, options: ImportOptions, io: Io): Promise<void> {
  const file = await openFile(options.storage)
  try {
    const { system, dangling } = await importSnomed(file.concepts, path, { ...options, progress: (message) => io.err(message) })
    if (dangling > 0) io.err(`${dangling} relationships name a concept that the release has not; they were left out`)
    io.out(system.version)
  } finally {
    await file.close()
  }
}
