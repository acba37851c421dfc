import { canonicalOf } from 'fhir-ops/content'
import type { CodeSystemProvider, ImportedSystem } from 'fhir-ops/code-system'
import type { JsonObject } from 'fhir-ops/json'
import { listedSystem } from './listed-system.js'
import { LOINC, loincFilter } from './loinc-filter.js'

/**
 * LOINC, for `codeSystems` of a context: versions that were imported to its `concepts`, with the filters of LOINC and the value sets that it
 * defines by their urls: all codes (`http://loinc.org/vs`), the answers of a list (`/LL...`), what is below a part (`/LP...`), the codes of
 * a group (`/LG...`).
 *
 * @see https://hl7.org/fhir/R4/loinc.html
 */
export function loinc(): ImportedSystem {
  return listedSystem({
    url: LOINC,
    name: 'LOINC',
    filter: loincFilter,
    implicitVersion(type, canonical) {
      const { url, version } = canonicalOf(canonical)
      if (type !== 'ValueSet' || !VALUE_SET.test(url)) return undefined
      return version === undefined ? {} : { version }
    },
    implicitResource: (_, canonical, provider) => valueSet(canonicalOf(canonical).url, provider),
  })
}

const PREFIX = `${LOINC}/vs`
const VALUE_SET = /^http:\/\/loinc\.org\/vs(?:\/L[LPG][0-9]{1,10}-[0-9])?$/

/** `undefined` when there is no such list, part or group. */
function valueSet(url: string, provider: CodeSystemProvider): JsonObject | undefined {
  const code = url.slice(PREFIX.length + 1)
  if (code !== '' && provider.find(code) === undefined) return undefined
  const version = provider.header.version ?? ''
  const include = { system: LOINC, version, ...(code !== '' && { filter: [filterFor(code)] }) }
  return { resourceType: 'ValueSet', url, version, status: 'active', compose: { include: [include] } }
}

function filterFor(code: string): JsonObject {
  if (code.startsWith('LL')) return { property: 'LIST', op: '=', value: code }
  if (code.startsWith('LG')) return { property: 'Group', op: '=', value: code }
  return { property: 'concept', op: 'is-a', value: code }
}
