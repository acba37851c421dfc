import { Command } from 'commander'
import { backupSqlite, checkSqlite } from '@fhir-ops/sqlite'
import { existingSqliteFile } from '../storage.js'
import type { Io } from '../io.js'
import { Exit } from '../exit.js'

/** `fhir-ops backup`. */
export function backupCommand(io: Io): Command {
  return new Command('backup')
    .description('Copy a SQLite file, also while a server uses it. The copy appears under its name when it is complete.')
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

/** `fhir-ops check`. */
export function checkCommand(io: Io): Command {
  return new Command('check')
    .description('Check a SQLite file for damage, without changing it. Exit status 1 when it is damaged.')
    .requiredOption('--storage <storage>', 'sqlite:FILE')
    .addHelpText('after', '\nExample:\n  fhir-ops check --storage sqlite:content.db')
    .action((options: { readonly storage: string }) => check(options.storage, io))
}

function check(storage: string, io: Io): void {
  const problems = checkSqlite(existingSqliteFile(storage))
  for (const problem of problems) io.out(problem)
  if (problems.length > 0) throw new Exit(1)
  io.err('no damage found')
}
