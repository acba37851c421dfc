import { checkpoint, createPace, type OperationContext } from '../../../context/index.js'
import { OperationError } from '../../../errors/index.js'
import { parseSearch } from '../../../search/index.js'
import { allMatches } from '../../../storage/index.js'
import type { Criterion } from '../../measure-plan.js'
import type { Tally } from '../../totals/sums.js'
import type { Scope } from '../language.js'
import { singleSubject, subjectConditions, type SubjectLinks } from '../../subject.js'
import { namesSubject, searchOptions, subjectVariables } from './criterion-query.js'

const PAGE = 500

/** Limits a scope to one of its subjects. */
export function scopeOfSubject(scope: Scope, id: string): Scope {
  return { ...scope, subject: { type: scope.subjectType, id }, practitioner: undefined }
}

/**
 * A criterion with basis `boolean` that names the subject only to select data about this subject, such as `Observation?patient={{%patient.id}}&code=x`,
 * counts the same subjects without that condition, in one query for all. Other criteria are returned unchanged.
 */
export function withoutOwnSubject({ subjectType, paramsOf }: SubjectLinks, criterion: Criterion): Criterion {
  if (criterion.basis !== 'boolean' || !namesSubject(criterion)) return criterion
  const [type = '', ...query] = criterion.expression.split('?')
  const [name, ...more] = type === subjectType ? ['_id'] : paramsOf(type)
  if (name === undefined || more.length > 0) return criterion
  const own = subjectVariables(subjectType).flatMap((variable) => [
    `${name}={{%${variable}}}`,
    ...(type === subjectType ? [] : [`${name}=${subjectType}/{{%${variable}}}`]),
  ])
  const others = query
    .join('?')
    .split('&')
    .filter((pair) => !own.includes(pair))
  const simpler = { ...criterion, expression: `${type}?${others.join('&')}` }
  return namesSubject(simpler) ? criterion : simpler
}

/**
 * Returns a function that adds up the tallies of all subjects of a scope, one after the other. The subjects are searched once, at first use.
 *
 * @throws {OperationError} `too-costly` for more subjects than `limits.maxExpansion`; `aborted` and `computation-timeout`; what
 *   `ctx.authorize` throws when the caller may not search subjects.
 */
export function perSubjectTally(ctx: OperationContext, scope: Scope): (tallyIn: (own: Scope) => Promise<Tally>) => Promise<Tally> {
  let ids: Promise<readonly string[]> | undefined
  return async (tallyIn) => {
    const pace = createPace(ctx)
    const tallies: Tally[] = []
    for (const id of await (ids ??= subjectIds(ctx, scope))) {
      pace.check()
      await pace.step()
      tallies.push(await tallyIn(scopeOfSubject(scope, id)))
    }
    return {
      count: tallies.reduce((sum, { count }) => sum + count, 0),
      ...(scope.listed === true && { members: tallies.flatMap(({ members }) => members ?? []) }),
    }
  }
}

async function subjectIds(ctx: OperationContext, scope: Scope): Promise<readonly string[]> {
  const subject = singleSubject(scope)
  if (subject !== undefined) return [subject.id]
  ctx.authorize?.('search', scope.subjectType)
  const { query } = await parseSearch(scope.subjectType, subjectConditions(scope), searchOptions(ctx))
  const { maxExpansion } = ctx.limits
  const ids: string[] = []
  for await (const { id } of allMatches(ctx.storage, { ...query, limit: PAGE })) {
    checkpoint(ctx)
    if (ids.length >= maxExpansion)
      throw new OperationError('too-costly', `Criteria that refer to the subject are evaluated for at most ${maxExpansion} subjects.`)
    ids.push(id)
  }
  return ids
}
