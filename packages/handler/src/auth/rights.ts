import type { OperationContext } from 'fhir-ops/context'
import { ERRORS, OperationError } from 'fhir-ops/errors'
import { parseSearch } from 'fhir-ops/search'
import type { Principal } from 'fhir-ops/sessions'
import type { Condition } from 'fhir-ops/storage'
import { compartmentMembers } from 'fhir-ops/internal/context'
import { leadsTo } from '../content/search/compartment.js'
import { parseQuery } from '../http/target.js'
import type { ScopeGrant } from './scopes.js'

/** What a scope grants to one caller. */
export interface Right extends Pick<ScopeGrant, 'type' | 'actions'> {
  /** Which resources of a type are granted, `undefined` for a type of which none is; all are when absent. */
  readonly within?: Within
}

type Within = (type: string) => Condition | undefined

/** What scopes are read with. */
export interface ScopeReading {
  /** `parseScope`, or what it said before. */
  readonly parse: (scope: string) => ScopeGrant | undefined
  readonly ctx: OperationContext
  /** Address of the FHIR base: absolute references in scopes that begin with it are local. */
  readonly base: string
  readonly maxParameters: number
}

/**
 * The right that a scope gives to a caller: `patient/` within the compartment of the token's patient, a query within what it finds.
 *
 * @returns `undefined` where the patient is not known or the query is not understood: nothing is granted then.
 */
export async function rightOf(reading: ScopeReading, { patient }: Principal, grant: ScopeGrant): Promise<Right | undefined> {
  const { level, type, actions, query } = grant
  const found = query === undefined ? EVERYTHING : await foundBy(reading, type, query)
  const reached = level === 'patient' ? await compartmentOf(reading.ctx, patient) : EVERYTHING
  if (found === undefined || reached === undefined) return undefined
  return found === EVERYTHING && reached === EVERYTHING ? { type, actions } : { type, actions, within: both(reached, found) }
}

/** What is in the compartment of a patient, and the patient. */
async function compartmentOf(ctx: OperationContext, id: string | undefined): Promise<Within | undefined> {
  const members = id === undefined ? undefined : await compartmentMembers(ctx, 'Patient')
  if (id === undefined || members === undefined) return undefined
  return (type) => {
    const params = [...(type === 'Patient' ? ['{def}'] : []), ...(members.get(type) ?? [])]
    return params.length === 0 ? undefined : leadsTo(params, { type: 'Patient', id })
  }
}

/** What a query finds, as long as it is about the resource alone and says nothing but criteria. */
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

/** Whether a condition is about other resources, too: it could not be decided for one that is to be stored. */
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

const EVERYTHING: Within = () => ({ kind: 'and', conditions: [] })
