import { Command } from 'commander'
import { checkSqlite } from '@fhir-ops/sqlite'
import { existingSqliteFile } from '../engine.js'
import { Exit } from '../exit.js'
import type { Io } from '../io.js'

/** `fhir-ops check`. */
export function checkCommand(io: Io): Command {
  return new Command('check')
    .description('Look for damage in a SQLite file, without changing it. Exit status 1 when there is any.')
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
