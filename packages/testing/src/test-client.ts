import type { Bundle, OperationOutcome, Parameters } from 'fhir/r4.js'
import type { Handler } from '@fhir-ops/handler'
import type { ResourceOf } from 'fhir-ops/storage'

/** The error for an answer with an unsuccessful status. */
export class RequestFailed extends Error {
  override readonly name = 'RequestFailed'
  readonly status: number
  /** The outcome from the service; absent if the answer was not an OperationOutcome. */
  readonly outcome: OperationOutcome | undefined

  constructor(status: number, asked: string, outcome: OperationOutcome | undefined) {
    const issues = (outcome?.issue ?? []).map((issue) => issue.details?.text ?? issue.diagnostics ?? issue.code)
    super(`${asked}: ${status}${issues.length === 0 ? '' : ` ${issues.join(' ')}`}`)
    this.status = status
    this.outcome = outcome
  }
}

/** Search parameters or operation parameters by name; a list repeats the name. */
export type QueryValues = Readonly<Record<string, string | number | boolean | readonly string[]>>

/** A call of an operation. */
export interface OperationCall {
  /** Query parameters, for operations called by GET. */
  readonly query?: QueryValues
  /** Body, Parameters or a resource; makes the call a POST. */
  readonly body?: object
}

/** A client of the handler, without a network: each call runs through the whole handler, with the token. */
export interface TestClient {
  /** @throws {RequestFailed} like every method; `status` is 404 if the resource does not exist. */
  read<T extends string>(type: T, id: string): Promise<ResourceOf<T>>
  /** Stores a resource under an id chosen by the service; returns the stored resource. */
  create<T extends ResourceLike>(resource: T): Promise<ResourceOf<T['resourceType']>>
  /** Stores a resource under its own id; returns the stored resource. */
  update<T extends ResourceLike & { readonly id: string }>(resource: T): Promise<ResourceOf<T['resourceType']>>
  delete(type: string, id: string): Promise<void>
  /** Returns the matches of one page, without included resources. */
  search<T extends string>(type: T, query?: QueryValues): Promise<readonly ResourceOf<T>[]>
  /** Submits a batch or a transaction; returns the response Bundle. */
  submit(bundle: Bundle): Promise<Bundle>
  /** Returns the answer of an operation: `operation('ValueSet/$expand', { query: { url } })`. */
  operation(path: string, call?: OperationCall): Promise<object>
  /** Returns the Parameters that an operation answers with. @throws {TypeError} if the answer is something else. */
  parameters(path: string, call?: OperationCall): Promise<Parameters>
  /** Sends any request below the FHIR base; returns the web-standard Response, whatever its status. */
  request(path: string, init?: RequestInit): Promise<Response>
}

/** Any resource. */
export interface ResourceLike {
  readonly resourceType: string
}

/** The handler to call, and the token to use. */
export interface ClientOptions {
  readonly handler: Handler
  /** Address of the FHIR base. */
  readonly fhirBase: string
  readonly token: string
}

/** Creates a client of a handler. `service.clientFor(token)` creates one for another token. */
export function testClient({ handler, fhirBase, token }: ClientOptions): TestClient {
  const request = (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers)
    if (!headers.has('authorization')) headers.set('authorization', `Bearer ${token}`)
    if (init.body !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/fhir+json')
    return handler(new Request(`${fhirBase}/${path}`, { ...init, headers }))
  }
  const ask = async (path: string, init: RequestInit = {}): Promise<unknown> => {
    const response = await request(path, init)
    const body = await jsonOf(response)
    if (response.ok) return body
    throw new RequestFailed(response.status, `${init.method ?? 'GET'} ${path}`, isResourceOf('OperationOutcome', body) ? body : undefined)
  }
  const resource = async <T extends string>(type: T, path: string, init?: RequestInit): Promise<ResourceOf<T>> =>
    expected(type, await ask(path, init), path)
  const operation = (path: string, { query, body }: OperationCall = {}): Promise<unknown> =>
    ask(withQuery(path, query), body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) })
  return {
    request,
    read: (type, id) => resource(type, `${type}/${id}`),
    create: <T extends ResourceLike>(given: T) =>
      resource<T['resourceType']>(given.resourceType, given.resourceType, sending('POST', given)),
    update: <T extends ResourceLike & { readonly id: string }>(given: T) =>
      resource<T['resourceType']>(given.resourceType, `${given.resourceType}/${given.id}`, sending('PUT', given)),
    delete: async (type, id) => void (await ask(`${type}/${id}`, { method: 'DELETE' })),
    search: async (type, query) => matchesIn(type, await resource('Bundle', withQuery(type, query))),
    submit: (bundle) => resource('Bundle', '', sending('POST', bundle)),
    operation: async (path, call) => object(await operation(path, call), path),
    parameters: async (path, call) => expected('Parameters', await operation(path, call), path),
  }
}

function sending(method: string, body: object): RequestInit {
  return { method, body: JSON.stringify(body) }
}

function withQuery(path: string, query: QueryValues = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, String(one)]))
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`
}

/** Returns the body, parsed if it is JSON, otherwise as text. */
async function jsonOf(response: Response): Promise<unknown> {
  const text = await response.text()
  const isJson = /[/+]json(;|$)/.test(response.headers.get('content-type') ?? '')
  return isJson && text !== '' ? JSON.parse(text) : text
}

function matchesIn<T extends string>(type: T, { entry = [] }: Bundle): readonly ResourceOf<T>[] {
  return entry.filter(({ search }) => search?.mode !== 'include').flatMap((one) => (isResourceOf(type, one.resource) ? [one.resource] : []))
}

function expected<T extends string>(type: T, body: unknown, path: string): ResourceOf<T> {
  if (isResourceOf(type, body)) return body
  throw new TypeError(`${path} answered ${typeName(body)}, not ${type}.`)
}

function object(body: unknown, path: string): object {
  if (typeof body === 'object' && body !== null) return body
  throw new TypeError(`${path} answered ${typeName(body)}, not a resource or an object.`)
}

function isResourceOf<T extends string>(type: T, body: unknown): body is ResourceOf<T> {
  return typeName(body) === type
}

function typeName(body: unknown): string {
  if (typeof body !== 'object' || body === null) return body === '' || body === undefined ? 'no body' : `a ${typeof body}`
  return 'resourceType' in body ? String(body.resourceType) : 'an object without resourceType'
}
