import { OperationError } from 'fhir-ops/errors'
import type { Principal } from 'fhir-ops/sessions'
import { grants, isFhirScope, parseScope, type Action } from './scopes.js'

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
  /** True when single resources may be hidden from this caller. */
  readonly hides: boolean
  decide(action: Action, type: string, id?: string): Decision
}

/** A caller who needs no token: everything is allowed. */
export const OPEN_CALLER: Caller = { principal: undefined, hides: false, decide: () => 'allow' }

/** The caller behind an accepted token (SC-04). */
export function callerOf(principal: Principal, { defaultPolicy, policy }: AccessPolicy): Caller {
  const scoped = principal.scopes.some(isFhirScope)
  const granted = principal.scopes.flatMap((scope) => parseScope(scope) ?? [])
  const fallback = [{ type: '*', actions: ALL }]
  const effective = !scoped && defaultPolicy === 'allow-authenticated' ? fallback : granted
  return {
    principal,
    hides: policy !== undefined,
    decide(action, type, id) {
      if (!grants(effective, action, type)) return 'deny'
      return policy?.({ principal, action, type, id }) ?? 'allow'
    },
  }
}

const ALL: ReadonlySet<Action> = new Set<Action>(['create', 'read', 'update', 'delete', 'search'])

/** Something that a caller wants to do. */
export interface Wish {
  readonly action: Action
  readonly type: string
  readonly id?: string | undefined
}

/** @throws {OperationError} `forbidden`, or `not-found` for what is hidden, exactly as for what does not exist. */
export function authorize(caller: Caller, { action, type, id }: Wish): void {
  const decision = caller.decide(action, type, id)
  if (decision === 'allow') return
  if (decision === 'deny' || id === undefined) throw new OperationError('forbidden', `The access token does not allow to ${action} ${type}.`)
  throw notFound(type, id)
}

/** @throws {OperationError} `forbidden` unless one of the wishes is granted. */
export function authorizeAny(caller: Caller, wishes: readonly Wish[]): void {
  if (wishes.some(({ action, type, id }) => caller.decide(action, type, id) === 'allow')) return
  const [first] = wishes
  if (first !== undefined) authorize(caller, first)
}

/** The error for a resource that does not exist or is hidden. */
export function notFound(type: string, id: string): OperationError {
  return new OperationError('not-found', `There is no ${type}/${id}.`)
}
