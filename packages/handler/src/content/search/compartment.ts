import { compartmentMembers } from 'fhir-ops/internal/context'
import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import type { Condition } from 'fhir-ops/storage'

/** All resources of the type `member` in the compartment of one resource. */
interface Compartment {
  readonly type: string
  readonly id: string
  readonly member: string
}

/**
 * Returns the condition that a resource belongs to a compartment: one of the reference parameters in the definition refers to the compartment's resource.
 *
 * @throws {OperationError} `not-found` if no resources of that type belong to the compartment; `search-unsupported` without a definition.
 * @see https://hl7.org/fhir/R4/compartmentdefinition.html
 */
export async function compartmentCondition(ctx: OperationContext, { type, id, member }: Compartment): Promise<Condition> {
  const members = await compartmentMembers(ctx, type)
  if (members === undefined) throw new OperationError('search-unsupported', `There is no definition of the ${type} compartment.`)
  const params = members.get(member)
  if (params === undefined) throw new OperationError('not-found', `No ${member} belongs to the compartment of a ${type}.`)
  return leadsTo(params, { type, id })
}

/** Condition that one of the parameters refers to the resource; `{def}` stands for the resource itself. */
export function leadsTo(params: readonly string[], { type, id }: Pick<Compartment, 'type' | 'id'>): Condition {
  const conditions = params.map((param): Condition => {
    if (param === '{def}') return { kind: 'id', ids: [id] }
    const all = [
      { field: 'value', op: 'eq', operand: id },
      { field: 'system', op: 'eq', operand: type },
    ] as const
    return { kind: 'entry', param, all }
  })
  return { kind: 'or', conditions }
}
