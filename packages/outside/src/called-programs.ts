import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { installedTools } from './tools.js'

const CLIENTS = join(import.meta.dirname, '../clients')
/** Libraries that are fetched when they are first needed. */
const FETCHED = join(import.meta.dirname, '../node_modules/.clients')

/** A program that makes calls of a server, given its FHIR base and a token, and writes `call<TAB>answer` for each. */
export type CallingProgram = (fhirBase: string, token: string) => Promise<readonly (readonly [call: string, answer: string])[]>

/** HAPI's generic client in Java; `undefined` without Java, Maven or a connection. */
export function hapiClient(): CallingProgram | undefined {
  const lib = join(FETCHED, 'hapi')
  if (!existsSync(join(lib, '.complete'))) {
    const args = [
      '--batch-mode',
      '--quiet',
      '-f',
      join(CLIENTS, 'hapi/pom.xml'),
      'dependency:copy-dependencies',
      `-DoutputDirectory=${lib}`,
    ]
    if (!succeeds('java', ['-version']) || !succeeds('mvn', args)) return undefined
    writeFileSync(join(lib, '.complete'), '')
  }
  return calling('java', ['-cp', join(lib, '*'), join(CLIENTS, 'hapi/Client.java')])
}

/** fhirpy in Python; `undefined` without Python or a connection. */
export function fhirpyClient(): CallingProgram | undefined {
  const folder = join(FETCHED, 'fhirpy')
  const python = join(folder, 'bin/python')
  if (!existsSync(join(folder, '.complete'))) {
    mkdirSync(FETCHED, { recursive: true })
    const isInstalled =
      succeeds('python3', ['-m', 'venv', folder]) &&
      succeeds(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', join(CLIENTS, 'fhirpy/requirements.txt')])
    if (!isInstalled) return undefined
    writeFileSync(join(folder, '.complete'), '')
  }
  return calling(python, [join(CLIENTS, 'fhirpy/client.py')])
}

/** The built files of LHC-Forms; `undefined` without a connection. Its package is unpacked alone: what it names as its dependencies is in the files. */
export function lhcForms(): string | undefined {
  const folder = join(FETCHED, 'lforms')
  if (!existsSync(join(folder, '.complete'))) {
    mkdirSync(folder, { recursive: true })
    const name = readFileSync(join(CLIENTS, 'lforms/package.txt'), 'utf8').trim()
    const isFetched =
      succeeds('npm', ['pack', name, '--silent', '--pack-destination', folder]) &&
      succeeds('tar', ['-xzf', join(folder, `${name.replace('@', '-')}.tgz`), '-C', folder])
    if (!isFetched) return undefined
    writeFileSync(join(folder, '.complete'), '')
  }
  return join(folder, 'package/dist/lforms')
}

const run = promisify(execFile)

function succeeds(program: string, args: readonly string[]): boolean {
  return spawnSync(program, args, { timeout: 300_000 }).status === 0
}

function calling(program: string, args: readonly string[]): CallingProgram {
  return async (fhirBase, token) => {
    const { stdout } = await run(program, [...args, fhirBase, token], { timeout: 300_000 })
    return stdout
      .trim()
      .split('\n')
      .map((line) => {
        const [call = '', answer = ''] = line.split('\t')
        return [call, answer] as const
      })
  }
}

/** Runs a command line of `@medplum/cli`, in a home of its own, and gives what it wrote. */
export type MedplumCommand = (...args: readonly string[]) => Promise<string>

/** `undefined` where it cannot be installed. */
export function medplumCli(): MedplumCommand | undefined {
  const program = installedTools()?.file('@medplum/cli/dist/cjs/index.cjs')
  if (program === undefined) return undefined
  const home = mkdtempSync(join(tmpdir(), 'fhir-ops-medplum-'))
  return async (...args) => {
    const env = { ...process.env, HOME: home, MEDPLUM_BASE_URL: '' }
    const { stdout, stderr } = await run(process.execPath, [program, ...args], { cwd: home, env }).catch(outputOf)
    return `${stdout}${stderr}`
  }
}

function outputOf(error: unknown): { readonly stdout: string; readonly stderr: string } {
  if (error instanceof Error && 'stdout' in error && 'stderr' in error)
    return { stdout: String(error.stdout), stderr: String(error.stderr) }
  throw error
}
