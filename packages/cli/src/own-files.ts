import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isObject, stringAt } from 'fhir-ops/internal/json'

// This file is directly in `src`, so that its relative paths are also right in `dist`.

/** The version of this package. */
export function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return (isObject(manifest) ? stringAt(manifest, 'version') : undefined) ?? ''
}

/** The folder with the sample content. */
export const SAMPLE_FOLDER: string = fileURLToPath(new URL('../sample', import.meta.url))

/** Path of that folder for examples that users paste: the shorter of its path relative to the current folder and its absolute path, quoted for a shell. */
export const SAMPLE_PATH: string = inShell([relativeToCurrent(SAMPLE_FOLDER), SAMPLE_FOLDER].reduce(shorter))

function relativeToCurrent(path: string): string {
  try {
    return relative(process.cwd(), path)
  } catch {
    // The current folder was removed.
    return path
  }
}

function shorter(one: string, other: string): string {
  return one.length <= other.length ? one : other
}

function inShell(path: string): string {
  return /^[\w./:@+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}
