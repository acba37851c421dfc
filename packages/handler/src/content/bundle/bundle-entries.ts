import { createPace } from 'fhir-ops/internal/context'
import { OperationError } from 'fhir-ops/errors'
import { readingBase64, writingBase64 } from '../../http/base64.js'
import { jsonItems, jsonMembers, stringValue, valuesByName } from 'fhir-ops/internal/json'
import { finished } from 'fhir-ops/internal/work'
import type { WritePlan, Exchange } from '../../exchange.js'
import { FHIR_JSON, type Answer } from '../../http/answer.js'
import type { HttpRequest } from '../../http/http-request.js'
import type { Service } from '../../service.js'

/** A write that has not been executed yet, with its request. */
export interface PlannedWrite {
  readonly exchange: Exchange
  readonly plan: WritePlan
}

/** Carries out entries of a Bundle through the route table, with the caller, turn and time limit of the Bundle's request. */
export interface EntryRunner {
  /** Answers an entry. Never rejects. */
  readonly serve: (request: HttpRequest, bundle: Exchange) => Promise<Answer>
  /** Answers a read. @throws {OperationError} as its route; `not-supported` for routes that may have side effects. */
  readonly read: (request: HttpRequest, bundle: Exchange) => Promise<Answer>
  /** Plans a write. @throws {OperationError} as its route; `not-supported` for anything but a write. */
  readonly plan: (request: HttpRequest, bundle: Exchange) => Promise<PlannedWrite>
}

/** An entry of a Bundle, as a request. */
export interface BundleEntry {
  /** Position in the Bundle, from 0. */
  readonly index: number
  /** Its target is `request.url`, relative to the FHIR base, without the leading slash that R4's examples have. */
  readonly request: HttpRequest
  /** Address by which other entries refer to this one. */
  readonly fullUrl: string | undefined
}

/** An entry of a transaction whose resource is known. */
export interface PlannedEntry extends PlannedWrite {
  readonly entry: BundleEntry
}

/**
 * Reads the entries of the Bundle in the body of a request, as requests.
 *
 * @throws {OperationError} `body-structure`; `too-costly` for more entries than a Bundle may have.
 */
export async function bundleEntries(
  { limits }: Pick<Service, 'limits'>,
  { body, ctx, request }: Exchange,
): Promise<readonly BundleEntry[]> {
  const pace = createPace(ctx)
  const list = valuesByName(await pace.run(jsonMembers(body?.text ?? '{}'))).get('entry')
  if (list === undefined) return []
  if (!list.startsWith('[')) throw new OperationError('body-structure', 'Bundle.entry must be an array.', { expression: ['Bundle.entry'] })
  const items = await pace.run(jsonItems(list))
  if (items.length > limits.bundleEntries) {
    throw new OperationError('too-costly', `A Bundle of requests may have ${limits.bundleEntries} entries; send several Bundles.`, {
      expression: ['Bundle.entry'],
    })
  }
  const entries: BundleEntry[] = []
  for (const [index, item] of items.entries()) {
    await pace.step()
    const members = item.startsWith('{') ? valuesByName(await pace.run(jsonMembers(item))) : NO_MEMBERS
    entries.push({ index, request: requestOf(members, { index, bundle: request }), fullUrl: stringValue(members, 'fullUrl') })
  }
  return entries
}

/** Headers that an entry can have, with the member of `request` that holds each. */
const HEADERS: ReadonlyMap<string, string> = new Map([
  ['if-match', 'ifMatch'],
  ['if-modified-since', 'ifModifiedSince'],
  ['if-none-match', 'ifNoneMatch'],
  ['if-none-exist', 'ifNoneExist'],
])

/** Headers of the Bundle's request that apply to each entry. */
const INHERITED: ReadonlySet<string> = new Set(['accept-language', 'prefer', 'x-too-costly-threshold'])

/** Makes the request that an entry describes. Its `header` throws `body-structure` for a condition that is not a string, because it would be ignored. */
function requestOf(
  entry: ReadonlyMap<string, string>,
  { index, bundle }: { readonly index: number; readonly bundle: HttpRequest },
): HttpRequest {
  const request = membersOf(entry.get('request') ?? '')
  const method = stringValue(request, 'method') ?? ''
  const resource = entry.get('resource')
  const { contentType, bytes } = contentOf(method, resource, index)
  return {
    method,
    target: (stringValue(request, 'url') ?? '').replace(/^\//, ''),
    hasBody: resource !== undefined,
    header(name) {
      if (name === 'content-type') return contentType
      const member = HEADERS.get(name)
      if (member !== undefined) return conditionIn(request, member, index)
      return INHERITED.has(name) ? bundle.header(name) : undefined
    },
    async *body() {
      yield bytes()
    },
    signal: undefined,
  }
}

/** Content that an entry sends: its resource, or the patch in a Binary. */
interface EntryContent {
  /** Absent for an entry without a resource. */
  readonly contentType: string | undefined
  /** @throws {OperationError} `body-structure` for a Binary whose data is not base64. */
  readonly bytes: () => Uint8Array
}

/** @see https://hl7.org/fhir/R4/http.html#patch */
function contentOf(method: string, resource: string | undefined, index: number): EntryContent {
  if (resource === undefined) return { contentType: undefined, bytes: () => new Uint8Array() }
  const members = method === 'PATCH' ? membersOf(resource) : NO_MEMBERS
  if (stringValue(members, 'resourceType') !== 'Binary')
    return { contentType: 'application/fhir+json', bytes: () => new TextEncoder().encode(resource) }
  return { contentType: stringValue(members, 'contentType') ?? '', bytes: () => patchIn(members, index) }
}

function patchIn(binary: ReadonlyMap<string, string>, index: number): Uint8Array {
  const bytes = finished(readingBase64(stringValue(binary, 'data') ?? ''))
  if (bytes !== undefined) return bytes
  throw new OperationError('body-structure', 'The data of the Binary must be base64.', {
    expression: [`Bundle.entry[${index}].resource.data`],
  })
}

const NO_MEMBERS: ReadonlyMap<string, string> = new Map()

/** The members of an object; none for any other value. */
function membersOf(text: string): ReadonlyMap<string, string> {
  return text.startsWith('{') ? valuesByName(finished(jsonMembers(text))) : NO_MEMBERS
}

function conditionIn(request: ReadonlyMap<string, string>, member: string, index: number): string | undefined {
  const text = stringValue(request, member)
  if (text !== undefined || !request.has(member)) return text
  throw new OperationError('body-structure', `The member ${member} of the request must be a text.`, {
    expression: [`Bundle.entry[${index}].request.${member}`],
  })
}

/** Converts an answer to an entry of the response: a resource becomes `resource`, other content a Binary, a failure `outcome`. */
export function responseEntry({ status, headers, body }: Answer): string {
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
  const contentType = known.get('content-type')
  const resource = contentType === FHIR_JSON ? body : binaryText(body, contentType)
  if (status >= 400) return `{"response":${text.slice(0, -1)},"outcome":${resource}}}`
  return `{"resource":${resource},"response":${text}}`
}

/** Wraps content that is not a resource, such as that returned by a bot, in a Binary. */
function binaryText(text: string, contentType: string | undefined): string {
  const data = finished(writingBase64(new TextEncoder().encode(text)))
  return JSON.stringify({ resourceType: 'Binary', contentType, data })
}

/** Converts an error of an entry to one of its Bundle, which names the entry. Other failures are returned unchanged. */
export function entryError<T>(index: number, error: T): T | OperationError {
  if (!(error instanceof OperationError)) return error
  const detail = { ...error.detail, cause: error, expression: [`Bundle.entry[${index}]`], omitsPlace: false }
  return new OperationError(error.code, `Bundle.entry[${index}]: ${error.message}`, detail)
}
