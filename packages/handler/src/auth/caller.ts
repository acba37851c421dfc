import { OperationError } from 'fhir-ops/errors'
import type { Principal } from 'fhir-ops/sessions'
import type { Condition } from 'fhir-ops/storage'
import type { Action } from 'fhir-ops/operation'
import { after, type Awaitable } from 'fhir-ops/internal/work'
import { rightOf, covers, isFhirScope, isNarrow, type Right, type ScopeReading, type ScopeGrant } from './scopes.js'

/** `hide` answers as if the resource did not exist. */
export type Decision = 'allow' | 'deny' | 'hide'

/** What a host's own rule is asked. */
export interface PolicyQuestion {
  readonly principal: Principal
  readonly action: Action
  readonly type: string
  readonly id: string | undefined
}

/** How requests are allowed. */
export interface AccessPolicy {
  /** For tokens that have no scope about FHIR resources at all. */
  readonly defaultPolicy: 'deny' | 'allow-authenticated'
  /** Narrows what the scopes allow; it never widens it. */
  readonly policy?: ((question: PolicyQuestion) => Decision) | undefined
}

/** Who makes a request and what they may do. */
export interface Caller {
  /** Absent where no token is needed. */
  readonly principal: Principal | undefined
  /** True when a rule of the host may hide single resources from this caller. */
  readonly hides: boolean
  /** True when some right holds for a part of a type's resources only. */
  readonly isNarrowed: boolean
  decide(action: Action, type: string, id?: string): Decision
  /** Which resources of a type the caller may do this with; all when `undefined`. */
  within(action: Action, type: string): Condition | undefined
}

/** A caller who needs no token: everything is allowed. */
export const OPEN_CALLER: Caller = {
  principal: undefined,
  hides: false,
  isNarrowed: false,
  decide: () => 'allow',
  within: () => undefined,
}

/** The caller behind an accepted token. @throws {OperationError} storage errors, where a scope is to be looked up. */
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

/** Something that a caller wants to do. */
export interface Wish {
  readonly action: Action
  readonly type: string
  readonly id?: string | undefined
  /** A right to a part of the type's resources does not do. */
  readonly whole?: boolean
}

/** @throws {OperationError} `forbidden`, or `not-found` for what is hidden, exactly as for what does not exist. */
export function authorize(caller: Caller, { action, type, id }: Wish): void {
  const decision = caller.decide(action, type, id)
  if (decision === 'allow') return
  if (decision === 'deny' || id === undefined) throw forbidden({ action, type })
  throw notFound(type, id)
}

function forbidden({ action, type }: Wish): OperationError {
  return new OperationError('forbidden', `The access token does not allow ${action} on ${type}.`)
}

/**
 * A resource that is hidden is no reason to refuse: it is not found where it is looked for.
 *
 * @throws {OperationError} `forbidden` unless one of the wishes is granted.
 */
export function authorizeAny(caller: Caller, wishes: readonly Wish[]): void {
  if (wishes.some((wish) => isGranted(caller, wish))) return
  const [first] = wishes
  if (first === undefined) return
  throw forbidden(first)
}

function isGranted(caller: Caller, { action, type, id, whole }: Wish): boolean {
  const decision = caller.decide(action, type, id)
  const isLetIn = decision === 'allow' || (decision === 'hide' && id !== undefined)
  return isLetIn && (whole !== true || caller.within(action, type) === undefined)
}

/** The error for a resource that does not exist or is hidden. */
export function notFound(type: string, id: string): OperationError {
  return new OperationError('not-found', `There is no ${type}/${id}.`)
}
