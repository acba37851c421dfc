import { checkpoint } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { jsonItems, jsonMembers } from 'fhir-ops/storage'
import { fhirText, type Answer } from '../http/answer.js'
import type { HttpRequest } from '../http/http-request.js'
import type { Call } from '../routes/route.js'

/** Answers one request within another: same caller, same turn, same time limit. It never rejects. */
export type ServePart = (request: HttpRequest, call: Call) => Promise<Answer>

/**
 * Answers each entry of a batch by itself, in their order; an entry that fails leaves the others as they are.
 *
 * @throws {OperationError} `not-supported` for a transaction; `body-structure` for any other Bundle; `computation-timeout`, `aborted`.
 * @see https://hl7.org/fhir/R4/http.html#transaction
 */
export async function runBatch(call: Call, serve: ServePart): Promise<Answer> {
  const bundle = new Map(jsonMembers(call.body?.text ?? '{}').map(({ name, value }) => [name, value]))
  checkType(call.body?.json?.['resourceType'], call.body?.json?.['type'])
  const entries: string[] = []
  for (const item of itemsOf(bundle.get('entry'))) {
    checkpoint(call.ctx)
    entries.push(entryText(await serve(entryRequest(item, call.request), call)))
  }
  return fhirText(200, `{"resourceType":"Bundle","type":"batch-response","entry":[${entries.join(',')}]}`)
}

function checkType(resourceType: unknown, type: unknown): void {
  if (resourceType !== 'Bundle') throw new OperationError('body-structure', 'The body must be a Bundle.', { expression: ['resourceType'] })
  if (type === 'batch') return
  if (type === 'transaction') throw new OperationError('not-supported', 'Bundles of the type transaction are not supported; send a batch.')
  throw new OperationError('body-structure', 'The Bundle must have the type batch.', { expression: ['Bundle.type'] })
}

function itemsOf(entry: string | undefined): readonly string[] {
  if (entry === undefined) return []
  if (!entry.startsWith('[')) throw new OperationError('body-structure', 'Bundle.entry must be an array.', { expression: ['Bundle.entry'] })
  return jsonItems(entry)
}

/** The headers that an entry can have, by the member that holds them. */
const HEADERS: ReadonlyMap<string, string> = new Map([
  ['if-match', 'ifMatch'],
  ['if-none-match', 'ifNoneMatch'],
  ['if-none-exist', 'ifNoneExist'],
])

/** Headers of the whole request that hold for each entry. */
const INHERITED: ReadonlySet<string> = new Set(['accept-language', 'prefer', 'x-too-costly-threshold'])

/** The request that an entry describes; `target` is as in the entry, relative to the FHIR base. */
function entryRequest(item: string, whole: HttpRequest): HttpRequest {
  const entry = membersOf(item)
  const request = membersOf(entry.get('request') ?? '')
  const resource = entry.get('resource')
  const bytes = new TextEncoder().encode(resource ?? '')
  return {
    method: textIn(request, 'method') ?? '',
    target: textIn(request, 'url') ?? '',
    hasBody: resource !== undefined,
    header(name) {
      if (name === 'content-type') return resource === undefined ? undefined : 'application/fhir+json'
      const member = HEADERS.get(name)
      if (member !== undefined) return textIn(request, member)
      return INHERITED.has(name) ? whole.header(name) : undefined
    },
    async *body() {
      yield bytes
    },
    signal: undefined,
  }
}

function membersOf(text: string): ReadonlyMap<string, string> {
  return new Map(text.startsWith('{') ? jsonMembers(text).map(({ name, value }) => [name, value]) : [])
}

function textIn(members: ReadonlyMap<string, string>, name: string): string | undefined {
  const value: unknown = JSON.parse(members.get(name) ?? 'null')
  return typeof value === 'string' ? value : undefined
}

/** An answer as an entry of the response: resources as they are, failures as `outcome`. */
function entryText({ status, headers, body }: Answer): string {
  const known = new Map(headers.map(([name, value]) => [name.toLowerCase(), value]))
  const modified = known.get('last-modified')
  const response = {
    status: String(status),
    location: known.get('location'),
    etag: known.get('etag'),
    lastModified: modified === undefined ? undefined : new Date(modified).toISOString(),
  }
  const text = JSON.stringify(response)
  if (body === undefined) return `{"response":${text}}`
  if (status >= 400) return `{"response":${text.slice(0, -1)},"outcome":${body}}}`
  return `{"resource":${body},"response":${text}}`
}
