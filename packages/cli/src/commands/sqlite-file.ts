import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { Command } from 'commander'
import { OperationError } from 'fhir-ops/errors'
import { backupSqlite } from '@fhir-ops/sqlite'
import { startThread } from '../thread.js'
import { existingSqliteFile, named } from '../storage.js'
import { type Io, Exit } from '../io.js'
import { withProgress } from '../progress.js'

/** `fhir-ops backup`. */
export function backupCommand(io: Io): Command {
  return new Command('backup')
    .description('Copy a SQLite file, also while a server uses it. The copy appears under its name when it is complete.')
    .argument('<copy>', 'file to write; an earlier copy is replaced')
    .requiredOption('--storage <storage>', 'sqlite:FILE')
    .addHelpText('after', '\nExample:\n  fhir-ops backup content-copy.db --storage sqlite:content.db')
    .action((copy: string, options: { readonly storage: string }) => backUp(options.storage, copy, io))
}

async function backUp(storage: string, copy: string, io: Io): Promise<void> {
  const file = existingSqliteFile(storage)
  checkPlace(copy)
  await withProgress(io, 'copying', () => named(placesOf(file, copy), () => backupSqlite(file, copy)))
  io.err(`copied ${file} to ${copy}`)
}

/** Returns the place to name in an error: only the source can be damaged; an error of opening or writing may concern either file. */
function placesOf(file: string, copy: string): (error: OperationError) => string {
  return ({ code }) => (code.startsWith('storage-') && code !== 'storage-damaged' ? `Copying ${file} to ${copy}` : file)
}

/** @throws {OperationError} `parameter-value` for a folder, a path in a folder that does not exist, a device and a pipe. */
function checkPlace(copy: string): void {
  if (copy === '') throw new OperationError('parameter-value', 'Name a file for the copy.')
  const found = statSync(copy, { throwIfNoEntry: false })
  if (found?.isDirectory() === true) throw new OperationError('parameter-value', `${copy} is a folder: name a file in it.`)
  if (found === undefined && statSync(dirname(copy), { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new OperationError('parameter-value', `There is no folder ${dirname(copy)}.`)
  // The copy would replace a device or a pipe.
  if (found?.isFile() === false) throw new OperationError('parameter-value', `${copy} is not a file, so it is not replaced: name another.`)
}

/** `fhir-ops check`. */
export function checkCommand(io: Io): Command {
  return new Command('check')
    .description('Check a SQLite file for damage, without changing it. Exit status 1 when it is damaged.')
    .requiredOption('--storage <storage>', 'sqlite:FILE')
    .addHelpText('after', '\nExample:\n  fhir-ops check --storage sqlite:content.db')
    .action((options: { readonly storage: string }) => check(options.storage, io))
}

async function check(storage: string, io: Io): Promise<void> {
  const file = existingSqliteFile(storage)
  const problems = await withProgress(io, 'checking', () => named(file, () => problemsIn(file)))
  for (const problem of problems) io.out(`${file}: ${problem}`)
  if (problems.length > 0) throw new Exit(1)
  io.err('no damage found')
}

async function problemsIn(file: string): Promise<readonly string[]> {
  const thread = startThread<string, readonly string[]>('checking-file-thread', undefined)
  try {
    return await thread.ask(file)
  } finally {
    await thread.end()
  }
}
