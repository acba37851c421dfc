import { readFileSync } from 'node:fs'

/**
 * A file that the package's build made. Both `src` and `dist` lie beside it, so that tests read the same file as users.
 *
 * @throws {Error} `ENOENT` before the package is built.
 */
export function builtFile(name: 'definitions.pack' | 'types.json' | 'search-parameters.json'): Uint8Array {
  return readFileSync(new URL(`../dist/${name}`, import.meta.url))
}

/** The same, parsed. */
export function builtJson(name: 'types.json' | 'search-parameters.json'): unknown {
  return JSON.parse(new TextDecoder().decode(builtFile(name)))
}
