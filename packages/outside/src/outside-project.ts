import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { workspacePackages } from '../../../scripts/packages.mjs'

export const ROOT: string = join(import.meta.dirname, '../../..')

/** A project of somebody else, with our packages installed from their tarballs. */
export interface OutsideProject {
  readonly dir: string
  /** The folders of our packages in it. */
  readonly packages: readonly string[]
  remove(): void
}

/**
 * Packs every package that is published and installs them all, as npm does, in a folder far from this one.
 *
 * @param others What it has besides them: versions by name.
 */
export function outsideProject(others: Readonly<Record<string, string>> = {}): OutsideProject {
  const dir = mkdtempSync(join(tmpdir(), 'fhir-ops-outside-'))
  const tarballs = join(dir, 'tarballs')
  const published = workspacePackages().filter(({ manifest }) => manifest.private !== true)
  const filters = published.flatMap(({ manifest }) => ['--filter', manifest.name])
  run('npx', ['--yes', 'pnpm@12.21.0', '--recursive', ...filters, 'pack', '--pack-destination', tarballs], ROOT)
  const files = readdirSync(tarballs).map((file) => `file:tarballs/${file}`)
  const ours = Object.fromEntries(files.map((file) => [nameIn(dir, file), file]))
  const manifest = {
    name: 'outside',
    private: true,
    type: 'module',
    dependencies: { ...ours, ...others },
    // The types of `@fhir-ops/testing/jest` extend those of Jest's own `expect`, as those who use Jest have it.
    devDependencies: { expect: '30.5.2' },
  }
  writeFileSync(join(dir, 'package.json'), JSON.stringify(manifest))
  run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel', 'error'], dir)
  const packages = Object.keys(ours).map((name) => join(dir, 'node_modules', name))
  return { dir, packages, remove: () => rmSync(dir, { recursive: true, force: true }) }
}

function nameIn(dir: string, file: string): string {
  const text = run('tar', ['-xOf', join(dir, file.slice('file:'.length)), 'package/package.json'], dir)
  return String(JSON.parse(text).name)
}

/** Runs a program to its end. @throws {Error} with what it wrote, when it fails. */
export function run(program: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr, error } = spawnSync(program, [...args], { cwd, encoding: 'utf8', maxBuffer: 1 << 26 })
  if (status === 0) return stdout
  throw new Error(`${program} ${args.join(' ')} failed: ${error?.message ?? ''}\n${stdout}\n${stderr}`)
}

/** The example at the beginning of the README. */
export function readmeExample(): string {
  const [, example] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'README.md'), 'utf8')) ?? []
  if (example === undefined) throw new Error('README.md has no example.')
  return example
}

/** The block of code on a page that contains this text. */
export function blockWith(page: string, text: string): string {
  const blocks = readFileSync(join(ROOT, page), 'utf8').matchAll(/^```\w+[^\n]*\n([\s\S]*?)^```/gm)
  const found = [...blocks].map(([, code = '']) => code).find((code) => code.includes(text))
  if (found === undefined) throw new Error(`${page} has no block with ${text}.`)
  return found
}
