import { createPace } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { jsonItems, jsonMembers } from 'fhir-ops/storage'
import { paced, type Work } from 'fhir-ops/work'
import type { HttpRequest } from '../../http/http-request.js'
import type { Call } from '../../routes/route.js'
import type { Service } from '../../service.js'

/** An entry of a Bundle that asks for something. */
export interface BundlePart {
  /** Place in the Bundle, from 0. */
  readonly index: number
  /** Its target is `request.url`, relative to the FHIR base: without the slash that R4's examples have before it. */
  readonly request: HttpRequest
  /** What other entries refer to this one by. */
  readonly fullUrl: string | undefined
}

/**
 * The entries of the Bundle in a call's body, as requests of their own.
 *
 * @throws {OperationError} `body-structure`; `too-costly` for more entries than a Bundle may have.
 */
export function bundleParts({ limits }: Pick<Service, 'limits'>, call: Call): Promise<readonly BundlePart[]> {
  return paced(readingParts(call, limits.bundleEntries), createPace(call.ctx))
}

function* readingParts({ body, request }: Call, maxEntries: number): Work<readonly BundlePart[]> {
  const entry = membersOf(body?.text ?? '').get('entry')
  if (entry === undefined) return []
  yield
  if (!entry.startsWith('[')) throw new OperationError('body-structure', 'Bundle.entry must be an array.', { expression: ['Bundle.entry'] })
  const items = jsonItems(entry)
  if (items.length > maxEntries) {
    throw new OperationError('too-costly', `A Bundle of requests may have ${maxEntries} entries; send several Bundles.`, {
      expression: ['Bundle.entry'],
    })
  }
  const parts: BundlePart[] = []
  for (const [index, item] of items.entries()) {
    yield
    parts.push(partOf(membersOf(item), { index, whole: request }))
  }
  return parts
}

/** The headers that an entry can have, by the member that holds them. */
const HEADERS: ReadonlyMap<string, string> = new Map([
  ['if-match', 'ifMatch'],
  ['if-modified-since', 'ifModifiedSince'],
  ['if-none-match', 'ifNoneMatch'],
  ['if-none-exist', 'ifNoneExist'],
])

/** Headers of the whole request that hold for each entry. */
const INHERITED: ReadonlySet<string> = new Set(['accept-language', 'prefer', 'x-too-costly-threshold'])

function partOf(entry: ReadonlyMap<string, string>, { index, whole }: { readonly index: number; readonly whole: HttpRequest }): BundlePart {
  return { index, request: requestOf(entry, { index, whole }), fullUrl: textIn(entry, 'fullUrl') }
}

/** The request that an entry describes. Its `header` throws `body-structure` for a condition that is no text, lest it is passed over. */
function requestOf(
  entry: ReadonlyMap<string, string>,
  { index, whole }: { readonly index: number; readonly whole: HttpRequest },
): HttpRequest {
  const request = membersOf(entry.get('request') ?? '')
  const resource = entry.get('resource')
  const bytes = new TextEncoder().encode(resource ?? '')
  return {
    method: textIn(request, 'method') ?? '',
    target: (textIn(request, 'url') ?? '').replace(/^\//, ''),
    hasBody: resource !== undefined,
    header(name) {
      if (name === 'content-type') return resource === undefined ? undefined : 'application/fhir+json'
      const member = HEADERS.get(name)
      if (member !== undefined) return conditionIn(request, member, index)
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

function conditionIn(request: ReadonlyMap<string, string>, member: string, index: number): string | undefined {
  const text = textIn(request, member)
  if (text !== undefined || !request.has(member)) return text
  throw new OperationError('body-structure', `The member ${member} of the request must be a text.`, {
    expression: [`Bundle.entry[${index}].request.${member}`],
  })
}

function textIn(members: ReadonlyMap<string, string>, name: string): string | undefined {
  const value: unknown = JSON.parse(members.get(name) ?? 'null')
  return typeof value === 'string' ? value : undefined
}
