import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import type { JsonObject } from 'fhir-ops/internal/json'

const FILE = fileURLToPath(new URL('../../../oracle/probes.ndjson.gz', import.meta.url))

/** A resource that violates a rule, or satisfies it in an unusual form, and whether the oracle accepts it. */
export interface Probe {
  /** Name: the subject, a colon, the rule, and the form. */
  readonly name: string
  readonly text: string
  readonly profiles: readonly string[]
  readonly definitions: readonly JsonObject[]
  /** Options of the oracle, by its names. */
  readonly options?: JsonObject
  readonly isValid: boolean
}

/** Every probe, in the order of the subjects. */
export function knownProbes(): readonly Probe[] {
  const lines = gunzipSync(readFileSync(FILE)).toString('utf8').trimEnd().split('\n')
  return lines.map((line) => {
    const probe: Partial<Probe> & Pick<Probe, 'name' | 'text' | 'isValid'> = JSON.parse(line)
    return { profiles: [], definitions: [], ...probe }
  })
}
