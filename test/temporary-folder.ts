import { chmodSync, existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Processes are numbered by namespace; containers may share the folder. */
const PREFIX = `fhir-ops-tests-${namespace()}-`

/**
 * Gives this process, and those that it starts, a folder of its own for temporary files, which goes when the process ends: some tests kill processes, which
 * leave their files. Folders of runs that were killed are removed, with the databases that are still running in them.
 */
export function useOwnTemporaryFolder(): void {
  // The configuration is read again when it changes under a watch.
  if (process.env['FHIR_OPS_TEMPORARY'] === String(process.pid)) return
  for (const name of readdirSync(tmpdir())) removeIfAbandoned(name)
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`))
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o711)
  process.env['TMPDIR'] = folder
  process.env['FHIR_OPS_TEMPORARY'] = String(process.pid)
  process.once('exit', () => remove(folder))
}

function removeIfAbandoned(name: string): void {
  const pid = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : Number.NaN
  const folder = join(tmpdir(), name)
  if (Number.isNaN(pid) || isRunning(pid)) return
  const status = lstatSync(folder, { throwIfNoEntry: false })
  if (status?.isDirectory() !== true || status.uid !== process.getuid?.()) return
  try {
    remove(folder)
  } catch (error) {
    // Another run that starts at the same time removes it, too.
    if (existsSync(folder)) process.emitWarning(`${folder} of a run that was killed could not be removed: ${String(error)}`)
  }
}

function namespace(): string {
  try {
    return Number(/\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0]).toString(36)
  } catch {
    return '0'
  }
}

/** A database that goes on would make files again while they are removed. */
function remove(folder: string): void {
  for (const name of readdirSync(folder)) endDatabase(join(folder, name, 'data'))
  rmSync(folder, { recursive: true, force: true })
}

function endDatabase(data: string): void {
  const file = join(data, 'postmaster.pid')
  const pid = existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : undefined
  if (pid === undefined || !isOf(pid, data)) return
  process.kill(pid, 'SIGQUIT')
  // It removes files of its own before it ends.
  while (isOf(pid, data)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // Of another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Whether a process runs and has a folder in its command line, so that no other one that was given its number since is ended. */
function isOf(pid: number, folder: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(folder)
  } catch {
    return false
  }
}
