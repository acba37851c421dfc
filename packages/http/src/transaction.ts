import { OperationError } from 'fhir-ops/errors'
import { objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/json'
import type { WriteEntry, WriteResult } from 'fhir-ops/storage'
import { jsonOf } from './answer.js'
import { unavailable } from './failure.js'
import { instantOf, versionIn } from './stored-from.js'
import type { Upstream } from './upstream.js'
import { checkEntry, refusal } from './write.js'

/** Sends the entries as one transaction, which the upstream does as a whole or not at all. */
export async function writeTogether(upstream: Upstream, entries: readonly WriteEntry[]): Promise<readonly WriteResult[]> {
  for (const entry of entries) checkEntry(entry)
  const addresses = entries.map(({ type, id }) => `${type}/${id}`)
  if (new Set(addresses).size < addresses.length) {
    throw new OperationError('not-supported', 'A transaction of the upstream FHIR server takes each resource once.')
  }
  if (entries.length === 0) return []
  const answer = await upstream.transaction(`{"resourceType":"Bundle","type":"transaction","entry":[${entries.map(entryText).join(',')}]}`)
  if (answer.status !== 200) throw refusal(answer, 'a resource of the transaction')
  const parts = objectsAt(jsonOf(answer), 'entry')
  if (parts.length !== entries.length) throw unavailable('sent another number of answers than it was asked for')
  return entries.map((entry, at) => resultOf(entry, parts[at]))
}

/** The text of the resource is put in as it is, so that numbers keep their digits. */
function entryText(entry: WriteEntry): string {
  const { op, type, id, ifVersion } = entry
  const condition = ifVersion === undefined ? {} : ifVersion === null ? { ifNoneMatch: '*' } : { ifMatch: `W/"${ifVersion}"` }
  const request = JSON.stringify({ method: op === 'put' ? 'PUT' : 'DELETE', url: `${type}/${id}`, ...condition })
  return op === 'put' ? `{"request":${request},"resource":${entry.text}}` : `{"request":${request}}`
}

function resultOf({ type, id, op }: WriteEntry, part: JsonObject | undefined): WriteResult {
  const response = objectAt(part, 'response')
  const status = (stringAt(response, 'status') ?? '').slice(0, 3)
  if (!/^2\d\d$/.test(status)) throw unavailable('does not tell what became of an entry')
  const meta = objectAt(objectAt(part, 'resource'), 'meta')
  const versionId = versionIn(stringAt(response, 'etag')) ?? stringAt(meta, 'versionId')
  if (op === 'put' && versionId === undefined) throw unavailable('does not tell the version that it wrote')
  const lastUpdated = instantOf(stringAt(meta, 'lastUpdated') ?? stringAt(response, 'lastModified'))
  return { type, id, lastUpdated, created: op === 'put' && status === '201', ...(versionId !== undefined && { versionId }) }
}
