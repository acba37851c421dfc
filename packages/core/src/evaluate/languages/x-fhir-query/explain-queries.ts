import { checkpoint, type OperationContext } from '../../../context/index.js'
import { explainCriteria, type ExplainedCriterion, type MissedBy, type NearMiss } from '../../../explain/index.js'
import { allMatches, type SearchQuery } from '../../../storage/index.js'
import { decidedBy, membershipsOf } from '../../membership.js'
import { canonicalOfMeasure } from '../../find-measure.js'
import type { GroupPlan, Population } from '../../measure-plan.js'
import type { GroupCounts, Scope } from '../language.js'
import { foundQuery } from './criterion-query.js'

/** Maximum number of resources that are named. */
const MAX_NAMED = 20
/** Maximum number of conditions of a query that are left out one by one. */
const MAX_CONDITIONS = 20
const MAX_NEAREST = 5

/** A description of found resources. */
interface Found {
  readonly type: string
  readonly count: number
  readonly references: readonly string[]
}

/**
 * Explains why one subject is or is not in each population of a group: by the resources that the criterion finds or, if there are none, those that it would
 * find without one of its conditions.
 */
export async function explainQueries(
  ctx: OperationContext,
  scope: Scope,
  { group, counts }: { readonly group: GroupPlan; readonly counts: GroupCounts },
): Promise<void> {
  const memberships = membershipsOf(group)
  const countAt = (index: number): number => counts.populations[index]?.count ?? 0
  const criteria: ExplainedCriterion[] = []
  for (const [index, population] of group.populations.entries()) {
    const membership = memberships[index] ?? { all: [index], none: [] }
    const decided = countAt(index) > 0 ? undefined : decidedBy({ group, membership, index, has: (other) => countAt(other) > 0 })
    const { why, found } = await explainedQuery(ctx, scope, { population, decided: decided?.decided })
    const result = countAt(index) > 0 ? 'true' : (decided?.result ?? 'false')
    criteria.push({
      name: population.kinds[0] ?? `population-${index + 1}`,
      definition: canonicalOfMeasure(scope.measure),
      path: population.path,
      expression: population.expression,
      result,
      ...((population.basis ?? 'boolean') !== 'boolean' && { count: countAt(index) }),
      reason: `${titleOf(population, index)} ${VERBS[result]} because ${why}.`,
      ...found,
    })
  }
  if (ctx.explain !== undefined) explainCriteria(ctx.explain, { criteria })
}

interface ExplainedQuery {
  readonly why: string
  readonly found: Pick<ExplainedCriterion, 'evaluated' | 'nearest' | 'steps'>
}

async function explainedQuery(
  ctx: OperationContext,
  scope: Scope,
  { population, decided }: { readonly population: Population; readonly decided: string | undefined },
): Promise<ExplainedQuery> {
  const { expression } = population
  const found = await foundBy(ctx, scope, population)
  const near = found.count > 0 || decided !== undefined ? { detail: '', nearest: [] } : await nearestOf(ctx, scope, population)
  const finds = `\`${expression}\` ${findsText(found)}`
  return {
    why: decided ?? `${finds}${near.detail}`,
    found: {
      nearest: near.nearest,
      steps: [{ kind: 'query', result: String(found.count), text: `${finds}.` }],
      evaluated: [{ clause: expression, resources: found.references, total: found.count }],
    },
  }
}

const VERBS = { true: 'is true', false: 'is false', 'not-applicable': 'does not apply' } as const

function titleOf({ kinds: [kind] }: Population, index: number): string {
  return kind === undefined ? `Population ${index + 1}` : `${kind.charAt(0).toUpperCase()}${kind.slice(1).replaceAll('-', ' ')}`
}

function findsText({ type, count, references }: Found): string {
  if (count === 0) return 'finds nothing'
  const named = references.slice(0, 3).join(', ')
  return `finds ${count} ${type}: ${named}${count > 3 ? ` and ${count - 3} more` : ''}`
}

async function foundBy(ctx: OperationContext, scope: Scope, criterion: Population): Promise<Found> {
  const query = await foundQuery(ctx, criterion, scope)
  return named(ctx, query)
}

async function named(ctx: OperationContext, query: SearchQuery): Promise<Found> {
  checkpoint(ctx)
  const references: string[] = []
  for await (const { type, id } of allMatches(ctx.storage, { ...query, limit: MAX_NAMED })) {
    references.push(`${type}/${id}`)
    if (references.length === MAX_NAMED) break
  }
  const count = references.length < MAX_NAMED ? references.length : await ctx.storage.count(query)
  return { type: query.type, count, references }
}

/** The conditions without which something would be found, those that exclude the fewest first. */
async function nearestOf(
  ctx: OperationContext,
  scope: Scope,
  criterion: Population,
): Promise<{ readonly detail: string; readonly nearest: readonly NearMiss[] }> {
  const [type = '', ...rest] = criterion.expression.split('?')
  const conditions = rest
    .join('?')
    .split('&')
    .filter((condition) => condition !== '')
  const kept = new Map<string, Found>()
  for (const group of conditionGroups(conditions).slice(0, MAX_CONDITIONS)) {
    const others = conditions.filter((condition) => !group.includes(condition))
    const found = await foundBy(ctx, scope, { ...criterion, expression: [type, others.join('&')].filter((part) => part !== '').join('?') })
    if (found.count > 0) kept.set(group.join('&'), found)
  }
  const sorted = [...kept].toSorted(([one], [other]) => one.split('&').length - other.split('&').length)
  const nearest = sorted.flatMap(([condition, { references }]) => references.slice(0, 2).map((resource) => missOf(resource, condition)))
  const [first] = sorted
  if (first !== undefined) return { detail: `; without \`${first[0]}\` it ${findsText(first[1])}`, nearest: nearest.slice(0, MAX_NEAREST) }
  const any = await foundBy(ctx, scope, { ...criterion, expression: type })
  return {
    detail: any.count === 0 ? `; there is no ${type} of the subject` : `; ${any.count} ${type} of the subject lack more than one condition`,
    nearest: [],
  }
}

/** Each condition alone, and all conditions on one parameter together, such as the two ends of a period. */
function conditionGroups(conditions: readonly string[]): readonly (readonly string[])[] {
  const byName = [...Map.groupBy(conditions, nameOf).values()].filter(({ length }) => length > 1)
  return [...conditions.map((condition) => [condition]), ...byName]
}

function nameOf(condition: string): string {
  return condition.split(/[=:]/, 1)[0] ?? ''
}

function missOf(resource: string, condition: string): NearMiss {
  const name = nameOf(condition)
  const missedBy: MissedBy =
    name.includes('date') || name === 'period' ? 'date' : name.includes('status') ? 'status' : name.includes('code') ? 'code' : 'condition'
  return { resource, missedBy, clause: condition, text: `${resource} meets every condition but \`${condition}\`.` }
}
