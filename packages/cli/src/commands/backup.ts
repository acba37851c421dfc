import { Command } from 'commander'
import { backupSqlite } from '@fhir-ops/sqlite'
import { existingSqliteFile } from '../engine.js'
import type { Io } from '../io.js'

/** `fhir-ops backup`. */
export function backupCommand(io: Io): Command {
  return new Command('backup')
    .description('Copy a SQLite file as it is now, also while it is served. The copy appears under its name when it is whole.')
    .argument('<copy>', 'file to write; one that exists is replaced')
    .requiredOption('--storage <storage>', 'sqlite:FILE')
    .addHelpText('after', '\nExample:\n  fhir-ops backup content-copy.db --storage sqlite:content.db')
    .action((copy: string, options: { readonly storage: string }) => backUp(options.storage, copy, io))
}

async function backUp(storage: string, copy: string, io: Io): Promise<void> {
  const file = existingSqliteFile(storage)
  await backupSqlite(file, copy)
  io.err(`copied ${file} to ${copy}`)
}
