import type { OperationContext } from '../../../context/index.js'
import type { Criterion, GroupPlan, Stratifier } from '../../measure-plan.js'
import { membershipsOf } from '../../membership.js'
import type { Stratum } from '../../stratum.js'
import type { Tally } from '../../tally.js'
import type { GroupCounts, Scope } from '../language.js'
import { countedQuery, type Counted } from './counted-query.js'
import { namesPatient, searchOptions } from './criterion-query.js'
import { ofPatient } from './each-patient.js'
import { inTurn } from './in-turn.js'
import { memberValues } from './member-values.js'
import { membersTally, type Members } from './members-tally.js'
import { withoutOwnPatient } from './own-patient.js'
import { valueStrata } from './value-strata.js'

/** The names of the languages that this evaluator knows: of searches, and of values by which stratifiers divide what these find. */
export const QUERY_LANGUAGE = 'application/x-fhir-query'
export const VALUE_LANGUAGE = 'text/fhirpath'

/** Stands for every patient where a criterion that names the patient is read to be checked. */
const ANY_PATIENT = 'any'

/**
 * Counts groups by queries that the storage answers: a population is a condition on what is counted, belonging to another population
 * as well is a conjunction, exclusion a negation. Equal queries are counted once. What a criterion that names the patient has a part in is
 * counted for each patient. All criteria of a group are read before anything of it is counted.
 */
export function queryEvaluator(ctx: OperationContext, scope: Scope): (group: GroupPlan) => Promise<GroupCounts> {
  const tally = membersTally(ctx, scope)
  const list = membersTally(ctx, { ...scope, listed: true })
  const isOfPatients = scope.subjectType === 'Patient'
  const queryOf = (written: Criterion): Promise<Counted> => {
    const criterion = isOfPatients ? withoutOwnPatient(searchOptions(ctx), written) : written
    return countedQuery(ctx, criterion, isOfPatients && namesPatient(criterion) ? ofPatient(scope, ANY_PATIENT) : scope)
  }
  const dividerOf = async ({ criteria }: Stratifier): Promise<Divider> => {
    const [only] = criteria
    if (only?.language !== QUERY_LANGUAGE) return valueDivider(ctx, scope, criteria)
    const stratum = await queryOf(only)
    return async ({ members }) => [
      { populations: await inTurn(members, ({ inside, outside }) => tally({ inside: [...inside, stratum], outside })) },
    ]
  }
  return async (group) => {
    const memberships = membershipsOf(group)
    const own = await inTurn(group.populations, queryOf)
    const dividers = await inTurn(group.stratifiers, dividerOf)
    const members = memberships.map(({ all, none }) => ({ inside: chosen(own, all), outside: chosen(own, none) }))
    let lists: Promise<readonly Tally[]> | undefined
    const listed = (): Promise<readonly Tally[]> => (lists ??= inTurn(members, list))
    return { populations: await inTurn(members, tally), strata: await inTurn(dividers, (divide) => divide({ members, listed })) }
  }
}

/** The populations of a group. */
interface Populations {
  readonly members: readonly Members[]
  /** Who belongs to each, looked up once. */
  readonly listed: () => Promise<readonly Tally[]>
}

type Divider = (populations: Populations) => Promise<readonly Stratum[]>

async function valueDivider(ctx: OperationContext, scope: Scope, criteria: readonly Criterion[]): Promise<Divider> {
  const readValues = await memberValues(ctx, criteria)
  return async ({ listed }) => {
    const strata = await valueStrata(ctx, await listed(), readValues)
    return scope.listed === true ? strata : strata.map(withoutMembers)
  }
}

function withoutMembers({ values, populations }: Stratum): Stratum {
  return { ...(values !== undefined && { values }), populations: populations.map(({ count }) => ({ count })) }
}

function chosen(own: readonly Counted[], indexes: readonly number[]): readonly Counted[] {
  return indexes.flatMap((index) => own[index] ?? [])
}
