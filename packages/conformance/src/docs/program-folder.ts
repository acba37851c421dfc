import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { workspacePackages } from '../../../../scripts/packages.mjs'
import { ROOT } from './blocks.js'

/** Packages that programs of the docs import besides ours, and where they are installed here. */
const OTHERS: Readonly<Record<string, string>> = {
  vitest: 'node_modules/vitest',
  pg: 'packages/postgres/node_modules/pg',
  '@electric-sql/pglite': 'packages/postgres/node_modules/@electric-sql/pglite',
  '@opentelemetry/api': 'packages/handler/node_modules/@opentelemetry/api',
}

/**
 * Loaded before a program, which then listens on a free port instead of the one that it names, and ends when it has nothing else to do, although it
 * is a server.
 */
const PRELOAD = `
import { Server } from 'node:net'
const { listen } = Server.prototype
Server.prototype.listen = function (...given) { return listen.apply(this, given.map((one) => (typeof one === 'number' ? 0 : one))).unref() }
`

/** A folder outside of the repository in which our packages are installed. */
export interface ProgramFolder {
  readonly dir: string
  /** Loaded by Node before a program. */
  readonly preload: string
  /** Writes a program into its own folder, and returns its path. */
  write(name: string, code: string): string
  remove(): void
}

/** Creates a folder with the built packages. */
export function programFolder(): ProgramFolder {
  const dir = mkdtempSync(join(tmpdir(), 'fhir-ops-docs-'))
  const installed = [
    ...workspacePackages().map(({ dir: folder, manifest }) => [manifest.name, folder] as const),
    ...Object.entries(OTHERS).map(([name, path]) => [name, join(ROOT, path)] as const),
  ]
  for (const [name, target] of installed) {
    const link = join(dir, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(target, link)
  }
  writeFileSync(join(dir, 'package.json'), '{ "type": "module" }')
  const preload = join(dir, 'preload.mjs')
  writeFileSync(preload, PRELOAD)
  return {
    dir,
    preload,
    write(name, code) {
      const file = join(dir, name.replaceAll(/[^\w.]+/g, '-'), name.includes('.test.') ? 'block.test.ts' : 'block.ts')
      mkdirSync(dirname(file))
      writeFileSync(file, code)
      return file
    },
    remove: () => rmSync(dir, { recursive: true }),
  }
}
