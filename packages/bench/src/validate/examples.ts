import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SHARED = process.env['FHIR_OPS_SHARED'] ?? fileURLToPath(new URL('../../../../shared', import.meta.url))

/** The R4 example resources as texts, one per line in `r4-examples/*.ndjson` of the folder next to the repository. */
export function exampleTexts(): readonly string[] {
  const folder = join(SHARED, 'r4-examples')
  const files = readdirSync(folder).filter((name) => name.endsWith('.ndjson'))
  return files.flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n')).filter((line) => line !== '')
}
