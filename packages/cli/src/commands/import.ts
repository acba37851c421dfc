import { Command } from 'commander'
import { OperationError } from 'fhir-ops/errors'
import { openSqlite } from '@fhir-ops/sqlite'
import { importSnomed, type SnomedImportOptions } from '../import/import-snomed.js'
import type { Io } from '../io.js'

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
    .addHelpText('after', '\nExample:\n  fhir-ops import snomed SnomedCT_Release.zip --storage sqlite:content.db')
}

async function intoStorage(path: string, options: ImportOptions, io: Io): Promise<void> {
  if (!options.storage.startsWith('sqlite:')) throw new OperationError('parameter-value', '--storage must be sqlite:FILE.')
  const file = await openSqlite(options.storage.slice('sqlite:'.length))
  try {
    const { system, dangling } = await importSnomed(file.concepts, path, { ...options, progress: (message) => io.err(message) })
    if (dangling > 0) io.err(`${dangling} relationships name a concept that the release has not; they were left out`)
    io.out(system.version)
  } finally {
    await file.close()
  }
}
