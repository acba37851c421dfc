import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The path of a file of the shared test suites, which lie beside the repository or where `FHIR_OPS_SHARED` says; `undefined` when absent. */
export function sharedPath(name: string): string | undefined {
  const folder = process.env['FHIR_OPS_SHARED'] ?? fileURLToPath(new URL('../../../../shared', import.meta.url))
  const path = `${folder}/${name}`
  return existsSync(path) ? path : undefined
}
