import { createHandler, type Handler, type HandlerOptions } from '@fhir-ops/handler'
import { r4 } from '@fhir-ops/r4'
import { createContext, type ContextOptions, type OperationContext } from 'fhir-ops/context'
import {
  AMOUNT,
  FUNCTION,
  ITERABLE,
  OBJECT,
  TEXT,
  checkOptions,
  inputShape,
  listOf,
  needed,
  type InputShape,
} from 'fhir-ops/internal/input'
import { objectAt, stringAt } from 'fhir-ops/internal/json'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { createSessions, type NewSession, type Sessions } from 'fhir-ops/sessions'
import { putResource, type Indexer, type ResourceOf, type Storage } from 'fhir-ops/storage'
import type { Bundle, OperationOutcome, Parameters } from 'fhir/r4.js'

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

const CLIENT: InputShape = inputShape<ClientOptions>({ handler: needed(FUNCTION), fhirBase: needed(TEXT), token: needed(TEXT) })

/** Creates a client of a handler. `service.clientFor(session)` creates one for another session. */
export function testClient(options: ClientOptions): TestClient {
  checkOptions('testClient', CLIENT, options)
  const { handler, fhirBase, token } = options
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

/** A clock that stands still until a test changes it. */
export interface TestClock {
  /** Returns the current time of the clock; pass it wherever a `now` is accepted. */
  readonly now: () => Date
  /** Sets the time, also backwards. @throws {TypeError} for an invalid time. */
  set(time: Date | string): void
  /** Advances the time by milliseconds. @throws {TypeError} unless the number is finite. */
  advance(milliseconds: number): void
}

/** Creates a clock that stands at `start`. @throws {TypeError} for an invalid time. */
export function testClock(start: Date | string): TestClock {
  let time = timeOf('testClock', start)
  return {
    now: () => new Date(time),
    set: (next) => {
      time = timeOf('set', next)
    },
    advance: (milliseconds) => {
      if (!Number.isFinite(milliseconds)) throw new TypeError('advance: the milliseconds must be a finite number.')
      time += milliseconds
    },
  }
}

function timeOf(caller: string, given: Date | string): number {
  const time = new Date(given).getTime()
  if (Number.isNaN(time))
    throw new TypeError(`${caller}: ${String(given)} is not a time. Use a Date or a text such as 2026-01-31T12:00:00Z.`)
  return time
}

/**
 * Creates a generator of ids: `00000000-0000-4000-8000-000000000001`, then `...2` and so on. The ids have the form of random UUIDs, are ascending, and are
 * the same in each run.
 */
export function testIds(): () => string {
  let made = 0
  return () => {
    made += 1
    return `00000000-0000-4000-8000-${made.toString(16).padStart(12, '0')}`
  }
}

/** Options of `testService`; all are optional. */
export interface TestServiceOptions {
  /** Resources to store at the start. Resources without an id are numbered by type: `1`, `2` and so on. */
  readonly resources?: Iterable<object>
  /** Time of the clock. Default 2026-01-01T12:00:00Z. */
  readonly now?: Date | string
  /** Scopes of the token. Default: everything that a token of the library can grant. */
  readonly scopes?: readonly string[]
  /** Subject of the token. Default `tester`. */
  readonly user?: string
  /** Lifetime of tokens in seconds, on the clock of the service. Default a year. */
  readonly ttl?: number
  /** Storage for the resources, which may already contain some. Default: memory. */
  readonly storage?: Storage
  /** Further options of `createContext`. */
  readonly context?: Partial<Omit<ContextOptions, 'storage' | 'now' | 'newId'>>
  /** Further options of `createHandler`. */
  readonly handler?: Partial<Omit<HandlerOptions, 'context' | 'sessions' | 'baseUrl'>>
}

/** A complete service within the process of a test, without a network. */
export interface TestService {
  /** Context for calling operations: `translate(service.context, ...)`. */
  readonly context: OperationContext
  readonly storage: Storage
  readonly sessions: Sessions
  /** The service as one function from `Request` to `Response`. */
  readonly handler: Handler
  /** Address with which links in answers begin: `http://fhir.test`. */
  readonly baseUrl: string
  /** An access token with the scopes. */
  readonly token: string
  /** A client that uses this token. */
  readonly client: TestClient
  /** The clock of context, storage and sessions. */
  readonly clock: TestClock
  /** Creates a client with its own token, for tests of other callers. */
  clientFor(session: Partial<NewSession> & Pick<NewSession, 'scopes'>): Promise<TestClient>
  /** Stores more resources, like the option `resources`; returns their addresses, such as `Patient/1`. */
  seed(...resources: readonly object[]): Promise<readonly string[]>
  /** Closes the handler and the storage. */
  close(): Promise<void>
  /** Lets `await using service = await testService()` close the service. */
  [Symbol.asyncDispose](): Promise<void>
}

const BASE_URL = 'http://fhir.test'
const START = '2026-01-01T12:00:00Z'
const YEAR_SECONDS = 31_536_000
const FULL_SCOPES: readonly string[] = ['openid', 'profile', 'email', 'system/*.cruds', 'system/Bot.cruds']

const SHAPE: InputShape = inputShape<TestServiceOptions>({
  resources: ITERABLE,
  now: { words: 'a Date or a text such as 2026-01-31T12:00:00Z', is: (value) => typeof value === 'string' || value instanceof Date },
  scopes: listOf(TEXT),
  user: TEXT,
  ttl: AMOUNT,
  storage: OBJECT,
  context: OBJECT,
  handler: OBJECT,
})

/**
 * Creates a service over memory, with all of R4, a stopped clock, and ids that are the same in each run.
 *
 * @throws {TypeError} for an option that is unknown or of another type.
 * @throws {OperationError} `resource-invalid` for a resource that cannot be stored.
 */
export async function testService(options: TestServiceOptions = {}): Promise<TestService> {
  checkOptions('testService', SHAPE, options)
  const clock = testClock(options.now ?? START)
  const { indexer, ...release } = r4({ base: `${BASE_URL}/fhir/R4` })
  const storage = options.storage ?? memoryStorage([], { indexer, now: clock.now })
  const newId = testIds()
  const common = { now: clock.now, newId }
  const context = createContext({ ...release, ...options.context, ...common, storage })
  const sessions = createSessions({ store: memorySessionStore(), ...common })
  const handler = createHandler({ defaultPolicy: 'deny', indexer, ...options.handler, context, sessions, baseUrl: BASE_URL })
  const seed = seeder(storage, indexer)
  await seed(...(options.resources ?? []))
  const { user = 'tester', scopes = FULL_SCOPES, ttl = YEAR_SECONDS } = options
  const tokenFor = async (session: Partial<NewSession>): Promise<string> => (await sessions.create({ user, ttl, ...session })).token
  const clientOf = (token: string): TestClient => testClient({ handler, fhirBase: `${BASE_URL}/fhir/R4`, token })
  const token = await tokenFor({ scopes })
  const close = async (): Promise<void> => {
    await handler.close()
    await storage.close()
  }
  return {
    context,
    storage,
    sessions,
    handler,
    clock,
    token,
    seed,
    close,
    baseUrl: BASE_URL,
    client: clientOf(token),
    clientFor: async (session) => clientOf(await tokenFor(session)),
    [Symbol.asyncDispose]: close,
  }
}

/** Returns a function that stores resources; those without an id are numbered by type. */
function seeder(storage: Storage, indexer: Indexer): TestService['seed'] {
  const numbered = new Map<string, number>()
  const numberOf = (type: string): string => {
    const number = (numbered.get(type) ?? 0) + 1
    numbered.set(type, number)
    return String(number)
  }
  return async (...resources) => {
    const puts = resources.map((resource) => {
      const holder = { resource }
      const type = stringAt(objectAt(holder, 'resource'), 'resourceType') ?? ''
      return { type, id: stringAt(objectAt(holder, 'resource'), 'id') ?? numberOf(type), source: resource }
    })
    if (puts.length > 0) await storage.write(puts.map((put) => putResource(put, indexer)))
    return puts.map(({ type, id }) => `${type}/${id}`)
  }
}
