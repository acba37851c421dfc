import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/**
 * The path of a built file, for a test that starts it.
 *
 * @param file From the root of the repository, such as `packages/cli/dist/main.js`.
 * @throws {Error} when it is not built; a process started with it would end, and the test wait for what it never prints.
 */
export function builtFile(file: string): string {
  const path = fileURLToPath(new URL(`../${file}`, import.meta.url))
  if (!existsSync(path)) throw new Error(`${relative(ROOT, path)} is not built: run npm run setup.`)
  return path
}
