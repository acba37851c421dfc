import { OperationError } from 'fhir-ops/errors'
import type { Principal } from 'fhir-ops/sessions'
import type { Condition } from 'fhir-ops/storage'
import type { Action } from 'fhir-ops/operation'
import { after, type Awaitable } from 'fhir-ops/internal/work'
import { rightOf, covers, isFhirScope, isNarrow, type Right, type ScopeReading, type ScopeGrant } from './scopes.js'

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
  const open: readonly Right[] = !scoped && defaultPolicy === 'allow-authenticated' ? [EVERYTHING] : grants
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

const EVERYTHING: Right = { type: '*', actions: new Set<Action>(['create', 'read', 'update', 'delete', 'search']) }

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
