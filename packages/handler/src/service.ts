import { createKeyedLock, createLimiter, type KeyedLock, type Limiter } from 'fhir-ops/internal/context'
import type { OperationContext } from 'fhir-ops/context'
import { definitionEntries } from 'fhir-ops/internal/content'
import { botEntries } from 'fhir-ops/internal/execute'
import type { Bots } from 'fhir-ops/execute'
import type { Operation } from 'fhir-ops/operation'
import { checkOptions } from 'fhir-ops/internal/input'
import { createIndexer } from 'fhir-ops/search'
import type { Sessions } from 'fhir-ops/sessions'
import type { Indexer } from 'fhir-ops/storage'
import { createDefinitionShelf, type DefinitionShelf, type HiddenDefinitions } from './content/definition-shelf.js'
import { DEFAULT_HANDLER_LIMITS, type HandlerLimits } from './limits.js'
import { scopeParser, type AccessPolicy, type ScopeReading } from './auth/caller.js'
import { PROOF_MS, checkRealm, dpopCheck, type DpopCheck } from './auth/credentials.js'
import type { LogoutTokenVerifier } from './auth/logout-token.js'
import { trustedNetworks, type IsTrusted } from './http/http-request.js'
import type { TokenVerifier } from './auth/token-verifier.js'
import { createJobs, type Jobs } from './async/jobs.js'
import { createExecutor, type Executor } from './executor.js'
import { checkOrigins, type CorsOptions } from './http/cors.js'
import { createAnswerCache, type AnswerCache } from './answer-cache.js'
import { observerOf, type LogEntry, type Observe } from './observe.js'
import { OPERATIONS } from './operations.js'
import { HANDLER_OPTIONS, type HandlerOptions, type WriteChecks } from './options.js'

/** The options of a handler, checked and completed. */
export interface Service {
  readonly ctx: OperationContext
  readonly sessions: Sessions
  /** Without a trailing slash. */
  readonly baseUrl: string
  /** Path segments under which requests arrive. */
  readonly mount: readonly string[]
  readonly isOpen: boolean
  readonly access: AccessPolicy
  /** How scopes with a patient or a query are resolved. */
  readonly scopeReading: ScopeReading
  readonly verifiers: readonly TokenVerifier[]
  readonly logoutTokens: readonly LogoutTokenVerifier[]
  /** Absent if only Bearer tokens are accepted. */
  readonly dpop: DpopCheck | undefined
  readonly smartConfiguration: HandlerOptions['smartConfiguration']
  readonly operations: readonly Operation[]
  readonly indexer: Indexer
  readonly bots: Bots | undefined
  readonly grantBotStorage: boolean
  /** Checks on a resource before it is stored, besides type, id and form. */
  readonly validateWrites: WriteChecks
  /** Bodies in gzip are read. */
  readonly gzipRequests: boolean
  readonly limits: HandlerLimits
  readonly realm: string
  readonly isTokenRequiredAtUserInfo: boolean
  readonly isTrusted: IsTrusted
  readonly cors: CorsOptions | undefined
  readonly readiness: () => Promise<unknown>
  readonly log: ((entry: LogEntry) => void) | undefined
  readonly observe: Observe | undefined
  readonly executor: Executor
  /** Room for long bodies; a place is a byte. */
  readonly longBodies: Limiter
  readonly answerCache: AnswerCache
  /** Requests that are answered asynchronously. */
  readonly jobs: Jobs
  /** When the service was created, as an instant; the date of its statements about itself. */
  readonly startedAt: string
  /** Runs conditional writes and patches that would disturb each other one after the other. */
  readonly writeLock: KeyedLock
  /** Lets few conditional writes run at the same time, so that on a busy machine some end in time instead of none. */
  readonly conditionalWrites: Limiter
  /** Definitions that can be read and searched in addition to stored resources. */
  readonly definitions: DefinitionShelf
  readonly hiddenDefinitions: HiddenDefinitions
}

/** Path of the FHIR API below the base. */
export const FHIR_PATH = '/fhir/R4'

/** @throws {TypeError} for an option that is missing, unknown, of another type, or impossible. */
export function createService(options: HandlerOptions): Service {
  checkOptions('createHandler', HANDLER_OPTIONS, options)
  const { context, sessions, defaultPolicy, policy, cors } = options
  if (cors !== undefined) checkOrigins(cors)
  const baseUrl = baseUrlOf(options.baseUrl)
  const limits = { ...DEFAULT_HANDLER_LIMITS, ...options.limits }
  const indexer = options.indexer ?? indexerOf(context, baseUrl)
  const startedAt = context.now().toISOString()
  return {
    ctx: withBase(context, `${baseUrl}${FHIR_PATH}`),
    sessions,
    baseUrl,
    mount: segmentsOf(options.mountPath ?? new URL(baseUrl).pathname),
    isOpen: options.auth === 'off',
    access: { defaultPolicy, policy },
    scopeReading: { parse: scopeParser(), ctx: context, base: `${baseUrl}${FHIR_PATH}`, maxParameters: limits.queryParameters },
    ...foreignTokensOf(options),
    smartConfiguration: options.smartConfiguration,
    operations: options.operations ?? OPERATIONS,
    indexer,
    bots: options.bots,
    grantBotStorage: options.grantBotStorage ?? false,
    validateWrites: writeChecksOf(options),
    gzipRequests: options.gzipRequests ?? false,
    limits,
    realm: checkRealm(options.realm ?? 'fhir-ops'),
    isTokenRequiredAtUserInfo: options.userinfoMissingToken === 'invalid_request',
    isTrusted: trustedNetworks(options.trustProxy ?? []),
    cors,
    readiness: options.readiness ?? (() => context.storage.read('Basic', 'ready')),
    log: loggerOf(options),
    observe: options.telemetry && observerOf(options.telemetry),
    executor: createExecutor(limits),
    longBodies: createLimiter({
      concurrency: limits.longBodyBytes,
      queue: limits.queue,
      waitMs: limits.longBodyWaitMs,
      refusal: 'Too many long bodies at the same time.',
    }),
    answerCache: createAnswerCache(),
    jobs: createJobs({ limits, now: context.now, newId: context.newId, isActive: (loginId) => sessions.isActive(loginId) }),
    startedAt,
    writeLock: createKeyedLock(),
    conditionalWrites: createLimiter({ concurrency: 8, queue: Infinity, refusal: 'Too many requests at the same time.' }),
    definitions: createDefinitionShelf({
      ctx: context,
      indexer,
      startedAt,
      // What an indexer of the host finds is not known.
      parameters: options.indexer === undefined ? context.search?.parameters : undefined,
    }),
    hiddenDefinitions: new Map(),
  }
}

function writeChecksOf({ context, validateWrites }: HandlerOptions): WriteChecks {
  const isPossible = context.types !== undefined
  if (isPossible || validateWrites === undefined || validateWrites === 'none') return validateWrites ?? (isPossible ? 'structure' : 'none')
  throw new TypeError('createHandler: validateWrites needs the types of FHIR, such as those of r4(), in the context.')
}

function foreignTokensOf({
  verifiers = [],
  logoutTokens = [],
  dpop,
  sessions,
}: HandlerOptions): Pick<Service, 'verifiers' | 'logoutTokens' | 'dpop'> {
  const replays = { isNew: (key: string) => sessions.useOnce(key, PROOF_MS) }
  return { verifiers, logoutTokens, dpop: dpop && dpopCheck({ replays, ...dpop }) }
}

/** Wraps the log, because a failing log must not fail the request. */
function loggerOf({ log }: HandlerOptions): Service['log'] {
  if (log === undefined) return undefined
  return (entry) => {
    try {
      log(entry)
    } catch {
      // There is no other place to report it.
    }
  }
}

/** Absolute references with the server's own address are treated as local, unless the host sets another base. */
function withBase(context: OperationContext, base: string): OperationContext {
  const { search } = context
  return search === undefined || search.base !== undefined ? context : { ...context, search: { ...search, base } }
}

function indexerOf({ search }: OperationContext, baseUrl: string): Indexer {
  if (search !== undefined) return createIndexer(search.parameters, { base: search.base ?? `${baseUrl}${FHIR_PATH}` })
  return (resource) => (resource['resourceType'] === 'Bot' ? botEntries(resource) : definitionEntries(resource))
}

function baseUrlOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url !== undefined && /^https?:$/.test(url.protocol) && [url.search, url.hash, url.username, url.password].join('') === ''
  if (!isPlain) throw new TypeError('baseUrl must be an http or https address without query, fragment and user.')
  const base = text.endsWith('/') ? text.slice(0, -1) : text
  if (base.endsWith(FHIR_PATH))
    throw new TypeError(`baseUrl must be the address above ${FHIR_PATH}, which the handler adds: '${base.slice(0, -FHIR_PATH.length)}'.`)
  return base
}

function segmentsOf(path: string): readonly string[] {
  return path.split('/').filter((segment) => segment !== '')
}
