import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Where they are, with the programs that use them. */
export const TOOLS: string = join(import.meta.dirname, '../tools')

/** The programs and libraries of `tools/package.json`, which are installed when they are first needed. */
export interface Tools {
  /** The version of one. */
  versionOf(name: string): string
  /** Path of a file in them. */
  file(path: string): string
}

/** `undefined` where they cannot be installed, for example without a connection. */
export function installedTools(): Tools | undefined {
  const modules = join(TOOLS, 'node_modules')
  if (!existsSync(join(modules, '.package-lock.json'))) {
    const { status } = spawnSync('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel', 'error'], { cwd: TOOLS })
    if (status !== 0) return undefined
  }
  const file = (path: string): string => join(modules, path)
  return { file, versionOf: (name) => String(JSON.parse(readFileSync(file(`${name}/package.json`), 'utf8')).version) }
}
