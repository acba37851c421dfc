import { canonicalOf, type Definition } from '../../content/index.js'
import type { OperationContext } from '../../context/index.js'
import type { JsonObject } from '../../json/index.js'
import { storedVersions } from '../code-system/stored-systems.js'
import { LOINC } from './loinc-filter.js'

const PREFIX = `${LOINC}/vs`

/**
 * The value set that LOINC defines by its url: all codes (`http://loinc.org/vs`), the answers of a list (`/LL...`),
 * what is below a part (`/LP...`), the codes of a group (`/LG...`).
 *
 * @returns `undefined` for another url, and when LOINC is not imported or has no such list, part or group.
 * @see https://hl7.org/fhir/R4/loinc.html
 */
export async function loincValueSet(ctx: OperationContext, canonical: string): Promise<Definition | undefined> {
  const { url, version } = canonicalOf(canonical)
  if (url !== PREFIX && !/^http:\/\/loinc\.org\/vs\/L[LPG][0-9]{1,10}-[0-9]$/.test(url)) return undefined
  const stored = await storedVersions(ctx, LOINC)
  await stored.prepare(version)
  const provider = stored.provider(version)
  const code = url.slice(PREFIX.length + 1)
  if (provider === undefined || (code !== '' && provider.find(code) === undefined)) return undefined
  const found = provider.header.version ?? ''
  const include = { system: LOINC, version: found, ...(code !== '' && { filter: [filterFor(code)] }) }
  const resource = { resourceType: 'ValueSet', url, version: found, status: 'active', compose: { include: [include] } }
  return { type: 'ValueSet', url, version: found, status: 'active', resource }
}

function filterFor(code: string): JsonObject {
  if (code.startsWith('LL')) return { property: 'LIST', op: '=', value: code }
  if (code.startsWith('LG')) return { property: 'Group', op: '=', value: code }
  return { property: 'concept', op: 'is-a', value: code }
}
