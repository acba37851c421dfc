import { execFile, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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
  if (!existsSync(join(lib, COMPLETE))) {
    const args = [
      '--batch-mode',
      '--quiet',
      '-f',
      join(CLIENTS, 'hapi/pom.xml'),
      'dependency:copy-dependencies',
      `-DoutputDirectory=${lib}`,
    ]
    if (!succeeds('java', ['-version']) || !succeeds('mvn', args)) return undefined
    writeFileSync(join(lib, COMPLETE), '')
  }
  return calling('java', ['-cp', join(lib, '*'), join(CLIENTS, 'hapi/Client.java')])
}

/** Programs in Python, one for each client of `clients/python`; `undefined` without Python or a connection. */
export function pythonClients(): ((client: string) => CallingProgram) | undefined {
  const folder = join(FETCHED, 'python')
  const python = join(folder, 'bin/python')
  const requirements = join(CLIENTS, 'python/requirements.txt')
  const wanted = readFileSync(requirements, 'utf8')
  if (!isFetched(folder, wanted)) {
    mkdirSync(FETCHED, { recursive: true })
    const isInstalled =
      succeeds('python3', ['-m', 'venv', '--clear', folder]) &&
      succeeds(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements])
    if (!isInstalled) return undefined
    writeFileSync(join(folder, COMPLETE), wanted)
  }
  return (client) => calling(python, [join(CLIENTS, `python/call_${client}.py`)])
}

/** Clients of the web and libraries for FHIR, of npm; `undefined` without a connection. */
export function webClients(): CallingProgram | undefined {
  const folder = join(FETCHED, 'web')
  const wanted = readFileSync(join(CLIENTS, 'web/package-lock.json'), 'utf8')
  if (!isFetched(folder, wanted)) {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(CLIENTS, 'web', file), join(folder, file))
    if (!succeeds('npm', ['ci', '--prefix', folder, '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'])) return undefined
    writeFileSync(join(folder, COMPLETE), wanted)
  }
  // Libraries are looked up from where the program is.
  copyFileSync(join(CLIENTS, 'web/call.mjs'), join(folder, 'call.mjs'))
  return calling(process.execPath, [join(folder, 'call.mjs')])
}

/** What was fetched, once all of it was there. */
const COMPLETE = '.complete'

function isFetched(folder: string, wanted: string): boolean {
  const file = join(folder, COMPLETE)
  return existsSync(file) && readFileSync(file, 'utf8') === wanted
}

/** The built files of LHC-Forms; `undefined` without a connection. Its package is unpacked alone: what it names as its dependencies is in the files. */
export function lhcForms(): string | undefined {
  const folder = join(FETCHED, 'lforms')
  if (!existsSync(join(folder, COMPLETE))) {
    mkdirSync(folder, { recursive: true })
    const name = readFileSync(join(CLIENTS, 'lforms/package.txt'), 'utf8').trim()
    const isUnpacked =
      succeeds('npm', ['pack', name, '--silent', '--pack-destination', folder]) &&
      succeeds('tar', ['-xzf', join(folder, `${name.replace('@', '-')}.tgz`), '-C', folder])
    if (!isUnpacked) return undefined
    writeFileSync(join(folder, COMPLETE), '')
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
type MedplumCommand = (...args: readonly string[]) => Promise<string>

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
