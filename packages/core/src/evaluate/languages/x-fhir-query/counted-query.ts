import type { OperationContext } from '../../../context/index.js'
import { OperationError, quoted } from '../../../errors/index.js'
import type { Condition, SearchQuery } from '../../../storage/index.js'
import type { Criterion } from '../../measure-plan.js'
import type { Scope } from '../language.js'
import { criterionQuery, namesPatient, searchOptions } from './criterion-query.js'
import { subjectParameter } from './subject-parameter.js'

/** A criterion and the query whose matches it counts. */
export interface Counted {
  readonly criterion: Criterion
  /** Its type is the type of what is counted: that of the subjects where they are. */
  readonly query: SearchQuery
}

/**
 * The query for what a criterion counts: the resources that its expression finds, or, with basis `boolean`, their subjects.
 *
 * @throws {OperationError} 422 for an expression that is not a valid search, and for one whose type does not fit the basis.
 */
export async function countedQuery(ctx: OperationContext, criterion: Criterion, scope: Scope): Promise<Counted> {
  const found = await criterionQuery(ctx, criterion, scope)
  if (criterion.basis === 'boolean') return { criterion, query: subjectsOf(ctx, { criterion, found, scope }) }
  if (criterion.basis !== undefined && criterion.basis !== found.type)
    throw misfit(criterion, { expected: criterion.basis, found: found.type })
  return { criterion, query: found }
}

/** The type that all of these count. @throws {OperationError} `definition-invalid` when they count different types. */
export function checkSameType(counted: readonly Counted[]): string {
  const [first, ...others] = counted
  const type = first?.query.type ?? ''
  const odd = others.find((other) => other.query.type !== type)
  if (odd === undefined) return type
  throw misfit(odd.criterion, { expected: type, found: odd.query.type })
}

interface BySubject {
  readonly criterion: Criterion
  readonly found: SearchQuery
  readonly scope: Scope
}

/** Of one patient it is this patient who counts or not, whomever else the resources are about. */
function subjectsOf(ctx: OperationContext, { criterion, found, scope }: BySubject): SearchQuery {
  const { subject, subjectType } = scope
  const { type, where } = found
  if (type === subjectType && !namesPatient(criterion)) return found
  const subjects = type === subjectType ? where : referredBy(ctx, { criterion, found, scope })
  if (subject?.type !== 'Patient') return { type: subjectType, where: subjects }
  return { type: subjectType, where: { kind: 'and', conditions: [{ kind: 'id', ids: [subject.id] }, subjects] } }
}

function referredBy(ctx: OperationContext, { criterion, found, scope }: BySubject): Condition {
  const { type, where } = found
  const param = subjectParameter(searchOptions(ctx), type, scope.subjectType)
  if (param === undefined) throw misfit(criterion, { expected: `something that refers to a ${scope.subjectType}`, found: type })
  return { kind: 'referredBy', param, query: { type, where } }
}

function misfit(
  { place, path, expression }: Criterion,
  { expected, found }: { readonly expected: string; readonly found: string },
): OperationError {
  return new OperationError('definition-invalid', `${place}: ${quoted(expression)} gives ${found}, where ${expected} is counted.`, {
    expression: [`${path}.criteria.expression`],
  })
}
