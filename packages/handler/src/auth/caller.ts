import type { OperationContext } from 'fhir-ops/context'
import { ERRORS, OperationError } from 'fhir-ops/errors'
import { compartmentMembers, leadsTo } from 'fhir-ops/internal/context'
import { after, type Awaitable } from 'fhir-ops/internal/work'
import type { Action } from 'fhir-ops/operation'
import { parseSearch } from 'fhir-ops/search'
import type { Principal } from 'fhir-ops/sessions'
import { isResourceType, type Condition } from 'fhir-ops/storage'
import { parseQuery } from '../http/target.js'

/** `hide` answers as if the resource did not exist. */
export type Decision = 'allow' | 'deny' | 'hide'

/** The question that a host's own policy decides. */
export interface PolicyQuestion {
  readonly principal: Principal
  readonly action: Action
  /** Type of the resource. */
  readonly type: string
  /** Id of the resource; absent where the request names none. */
  readonly id: string | undefined
}

/** Decides which requests are allowed. */
export interface AccessPolicy {
  /** Decision for tokens without any FHIR resource scope. */
  readonly defaultPolicy: 'deny' | 'allow-authenticated'
  /** The host's own rule. It can only narrow what the scopes allow, never widen it. */
  readonly policy?: ((question: PolicyQuestion) => Decision) | undefined
}

/** The client or user who makes a request, with rights. */
export interface Caller {
  /** Absent if no token is required. */
  readonly principal: Principal | undefined
  /** True if a rule of the host may hide single resources from this caller. */
  readonly hides: boolean
  /** True if some right covers only part of a type's resources. */
  readonly isNarrowed: boolean
  decide(action: Action, type: string, id?: string): Decision
  /** Condition on the resources of a type for which the action is allowed; `undefined` means all. */
  within(action: Action, type: string): Condition | undefined
}

/** A caller without a token, who may do everything. */
export const OPEN_CALLER: Caller = {
  principal: undefined,
  hides: false,
  isNarrowed: false,
  decide: () => 'allow',
  within: () => undefined,
}

/** Returns the caller behind an accepted token. @throws {OperationError} storage errors, if a scope requires a lookup. */
export function callerOf(principal: Principal, { defaultPolicy, policy }: AccessPolicy, reading: ScopeReading): Awaitable<Caller> {
  const scoped = principal.scopes.some(isFhirScope)
  const grants = principal.scopes.flatMap((scope) => reading.parse(scope) ?? [])
  const open: readonly Right[] = !scoped && defaultPolicy === 'allow-authenticated' ? [ALL_RIGHTS] : grants
  return after(grants.some(isNarrow) ? narrowedRights(principal, grants, reading) : open, (rights) => callerWith(rights, principal, policy))
}

function callerWith(rights: readonly Right[], principal: Principal, policy: AccessPolicy['policy']): Caller {
  const covering = (action: Action, type: string): readonly Right[] =>
    rights.filter((right) => covers(right, action, type) && (right.within === undefined || right.within(type) !== undefined))
  return {
    principal,
    hides: policy !== undefined,
    isNarrowed: rights.some(({ within }) => within !== undefined),
    decide(action, type, id) {
      if (covering(action, type).length === 0) return 'deny'
      return policy?.({ principal, action, type, id }) ?? 'allow'
    },
    within(action, type) {
      const conditions = covering(action, type).map((right) => right.within?.(type))
      return conditions.includes(undefined) ? undefined : { kind: 'or', conditions: conditions.filter((one) => one !== undefined) }
    },
  }
}

async function narrowedRights(principal: Principal, grants: readonly ScopeGrant[], reading: ScopeReading): Promise<readonly Right[]> {
  const rights = await Promise.all(grants.map((grant) => rightOf(reading, principal, grant)))
  return rights.filter((right) => right !== undefined)
}

const ALL_RIGHTS: Right = { type: '*', actions: new Set<Action>(['create', 'read', 'update', 'delete', 'search']) }

/** An action on resources of a type for which a caller needs a right. */
export interface AccessRequest {
  readonly action: Action
  readonly type: string
  readonly id?: string | undefined
  /** If true, a right to only part of the type's resources is not sufficient. */
  readonly whole?: boolean
}

/** @throws {OperationError} `forbidden`; or `not-found` for a hidden resource, exactly as for one that does not exist. */
export function authorize(caller: Caller, { action, type, id }: AccessRequest): void {
  const decision = caller.decide(action, type, id)
  if (decision === 'allow') return
  if (decision === 'deny' || id === undefined) throw forbidden({ action, type })
  throw notFound(type, id)
}

function forbidden({ action, type }: AccessRequest): OperationError {
  return new OperationError('forbidden', `The access token does not allow ${action} on ${type}.`)
}

/**
 * Authorizes a caller who has the right to at least one of the requests. A hidden resource does not lead to a refusal here; the later lookup does not find it.
 *
 * @throws {OperationError} `forbidden` unless one of them is allowed.
 */
export function authorizeAny(caller: Caller, anyOf: readonly AccessRequest[]): void {
  if (anyOf.some((request) => isGranted(caller, request))) return
  const [first] = anyOf
  if (first === undefined) return
  const partly = anyOf.find((request) => isLetIn(caller, request))
  throw partly === undefined ? forbidden(first) : forbiddenInPart(partly)
}

function isGranted(caller: Caller, request: AccessRequest): boolean {
  return isLetIn(caller, request) && (request.whole !== true || caller.within(request.action, request.type) === undefined)
}

function isLetIn(caller: Caller, { action, type, id }: AccessRequest): boolean {
  const decision = caller.decide(action, type, id)
  return decision === 'allow' || (decision === 'hide' && id !== undefined)
}

function forbiddenInPart({ action, type }: AccessRequest): OperationError {
  const text = `The access token allows ${action} on some resources of ${type} only, and this needs it on all of them.`
  return new OperationError('forbidden', text)
}

/** The error for a resource that does not exist or is hidden. */
export function notFound(type: string, id: string): OperationError {
  return new OperationError('not-found', `There is no ${type}/${id}.`)
}

/** A SMART scope that grants something. */
export interface ScopeGrant {
  /** `patient` grants only resources in the compartment of the token's patient. */
  readonly level: 'patient' | 'user' | 'system'
  /** A resource type, or `*` for all types, except for writing Bots. */
  readonly type: string
  readonly actions: ReadonlySet<Action>
  /** Search parameters, as in a URL; only resources that match are granted. */
  readonly query?: string
}

const LETTERS: readonly (readonly [string, Action])[] = [
  ['c', 'create'],
  ['r', 'read'],
  ['u', 'update'],
  ['d', 'delete'],
  ['s', 'search'],
]

/** The words of SMART version 1, as letters of version 2. */
const VERSION_1: ReadonlyMap<string, string> = new Map([
  ['read', 'rs'],
  ['write', 'cud'],
  ['*', 'cruds'],
])

const SCOPE = /^(patient|user|system)\/([A-Za-z]+|\*)\.(read|write|\*|c?r?u?d?s?)(?:\?([\x21-\x7e]+))?$/

/** Number of scopes whose grants are cached; all tokens of a service together use few scopes. */
const MAX_KEPT = 1_000

/** Creates a parser of scopes that caches its results. */
export function scopeParser(): (scope: string) => ScopeGrant | undefined {
  const known = new Map<string, ScopeGrant | undefined>()
  return (scope) => {
    if (known.has(scope)) return known.get(scope)
    const grant = parseScope(scope)
    if (known.size >= MAX_KEPT) known.clear()
    known.set(scope, grant)
    return grant
  }
}

/**
 * Parses the grant of a scope. Unknown, misordered and malformed scopes grant nothing; neither does a query on all types.
 *
 * @see https://hl7.org/fhir/smart-app-launch/scopes-and-launch-context.html
 */
export function parseScope(scope: string): ScopeGrant | undefined {
  const [, level, type = '', permissions = '', query] = SCOPE.exec(scope) ?? []
  const isType = type === '*' ? query === undefined : isResourceType(type)
  if (!isLevel(level) || permissions === '' || !isType) return undefined
  const letters = VERSION_1.get(permissions) ?? permissions
  const actions = new Set(LETTERS.filter(([letter]) => letters.includes(letter)).map(([, action]) => action))
  return { level, type, actions, ...(query !== undefined && { query }) }
}

function isLevel(text: string | undefined): text is ScopeGrant['level'] {
  return text === 'patient' || text === 'user' || text === 'system'
}

/** True if a scope grants only part of a type's resources. */
function isNarrow({ level, query }: ScopeGrant): boolean {
  return level === 'patient' || query !== undefined
}

/** True for a scope in the form of a FHIR resource scope, whether or not it grants anything. */
export function isFhirScope(scope: string): boolean {
  return /^(patient|user|system)\//.test(scope)
}

/** True if the grant covers the action and the type. Writing Bots must be granted by name, because it is a way to run code. */
export function covers(grant: Pick<ScopeGrant, 'type' | 'actions'>, action: Action, type: string): boolean {
  const byName = type === 'Bot' && action !== 'read' && action !== 'search'
  return grant.actions.has(action) && (grant.type === type || (grant.type === '*' && !byName))
}

/** What a scope grants to a particular caller. */
interface Right extends Pick<ScopeGrant, 'type' | 'actions'> {
  /** Condition on the resources of a type; if it returns `undefined`, none is granted. If absent, all resources are granted. */
  readonly within?: Within
}

type Within = (type: string) => Condition | undefined

/** What is needed to resolve scopes. */
export interface ScopeReading {
  /** `parseScope`, with a cache. */
  readonly parse: (scope: string) => ScopeGrant | undefined
  readonly ctx: OperationContext
  /** Address of the FHIR base: absolute references in scopes that begin with it are treated as local. */
  readonly base: string
  readonly maxParameters: number
}

/**
 * Resolves a scope to a right of the caller: `patient/` within the compartment of the token's patient, a query within what it finds.
 *
 * @returns `undefined` (nothing is granted) if the patient is unknown or the query is not understood.
 */
async function rightOf(reading: ScopeReading, { patient }: Principal, grant: ScopeGrant): Promise<Right | undefined> {
  const { level, type, actions, query } = grant
  const found = query === undefined ? ANY_RESOURCE : await foundBy(reading, type, query)
  const reached = level === 'patient' ? await compartmentOf(reading.ctx, patient) : ANY_RESOURCE
  if (found === undefined || reached === undefined) return undefined
  return found === ANY_RESOURCE && reached === ANY_RESOURCE ? { type, actions } : { type, actions, within: both(reached, found) }
}

/** Resources in the compartment of a patient, and the patient. */
async function compartmentOf(ctx: OperationContext, id: string | undefined): Promise<Within | undefined> {
  const members = id === undefined ? undefined : await compartmentMembers(ctx, 'Patient')
  if (id === undefined || members === undefined) return undefined
  return (type) => {
    const params = [...(type === 'Patient' ? ['{def}'] : []), ...(members.get(type) ?? [])]
    return params.length === 0 ? undefined : leadsTo(params, { type: 'Patient', id })
  }
}

/** Resources that match a query, provided that it depends on the resource alone and contains only criteria. */
async function foundBy({ ctx, base, maxParameters }: ScopeReading, type: string, text: string): Promise<Within | undefined> {
  if (ctx.search === undefined) return undefined
  try {
    const pairs = parseQuery(text, { queryParameters: maxParameters })
    const { query } = await parseSearch(type, pairs, { base, ...ctx.search })
    const isPlain = pairs.length > 0 && query.parameters?.length === pairs.length && !looksFurther(query.where)
    return isPlain ? () => query.where : undefined
  } catch (error) {
    if (error instanceof OperationError && ERRORS[error.code].status < 500) return undefined
    throw error
  }
}

/** True if a condition depends on other resources as well: it could not be decided for a resource that is yet to be stored. */
function looksFurther(condition: Condition): boolean {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.conditions.some(looksFurther)
    case 'not':
      return looksFurther(condition.condition)
    default:
      return condition.kind === 'refersTo' || condition.kind === 'referredBy'
  }
}

function both(a: Within, b: Within): Within {
  return (type) => {
    const conditions = [a(type), b(type)]
    return conditions.includes(undefined)
      ? undefined
      : { kind: 'and', conditions: conditions.filter((condition) => condition !== undefined) }
  }
}

const ANY_RESOURCE: Within = () => ({ kind: 'and', conditions: [] })
