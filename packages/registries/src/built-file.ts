import { readFileSync } from 'node:fs'

/**
 * A file that the package's build made. Both `src` and `dist` lie beside it, so that tests read the same file as users.
 *
 * @throws {Error} `ENOENT` before the package is built.
 */
export function builtFile(name: 'registries.pack' | 'subtags.json'): Uint8Array {
  return readFileSync(new URL(`../dist/${name}`, import.meta.url))
}
