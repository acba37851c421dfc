import { openSync, readFileSync, readSync } from 'node:fs'
import type { PackReader } from 'fhir-ops/content'

/**
 * A file that the package's build made. Both `src` and `dist` lie beside it, so that tests read the same file as users.
 *
 * @throws {Error} `ENOENT` before the package is built.
 */
export function builtFile(name: 'types.json' | 'search-parameters.json'): Uint8Array {
  return readFileSync(new URL(`../dist/${name}`, import.meta.url))
}

/** The same, parsed. */
export function builtJson(name: 'types.json' | 'search-parameters.json'): unknown {
  return JSON.parse(new TextDecoder().decode(builtFile(name)))
}

/** Reads stretches of the built pack; the file stays open as long as the process. */
export function builtPack(): PackReader {
  const file = openSync(new URL('../dist/definitions.pack', import.meta.url), 'r')
  return (start, end) => {
    const bytes = new Uint8Array(end - start)
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, start))
  }
}
