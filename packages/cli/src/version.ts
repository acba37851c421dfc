import { readFileSync } from 'node:fs'
import { isObject, stringAt } from 'fhir-ops/internal/json'

/** The version of this package. */
export function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return (isObject(manifest) ? stringAt(manifest, 'version') : undefined) ?? ''
}
