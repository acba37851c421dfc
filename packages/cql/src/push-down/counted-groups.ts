import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { singleSubject, type Membership } from 'fhir-ops/internal/evaluate'
import { parseSearch } from 'fhir-ops/search'
import type { Condition, SearchQuery } from 'fhir-ops/storage'
import { narrowed, populationOf } from '../data/population.js'
import type { MeasureWork } from '../measure/contribution.js'
import { decisionOf, allOf, anyOf, isOfNobody, negated, type Deciding, type Decision } from './criterion.js'

/** How much to count. */
interface Counting {
  /** If true, nothing is counted unless all subjects can be counted. Default false. */
  readonly onlyWhole?: boolean
}

/** Counting is worthwhile if at most one in this many subjects is left to evaluate. */
const FEW = 4

/**
 * Counts the subjects for which searches decide all criteria, and adds them to the totals. The counts equal those of an evaluation for resources whose
 * elements have the JSON form that FHIR defines.
 *
 * @returns The subjects that are left to evaluate; `undefined` if there are none, `all` if nothing was counted.
 */
export async function addCounted(
  ctx: OperationContext,
  work: MeasureWork,
  counting: Counting = {},
): Promise<Condition | 'all' | undefined> {
  const { search } = ctx
  if (search === undefined || !isCountable(ctx, work)) return 'all'
  try {
    const found = await counted({ ctx, search }, work, counting)
    if (found === undefined) return 'all'
    for (const [index, own] of found.counts.entries()) work.groups[index]?.total.addCounts(own)
    ctx.explain?.step({ kind: 'criterion', outcome: 'chosen', text: found.text })
    return found.left
  } catch (error) {
    // Subjects that the storage cannot count in time, or by these parameters, are evaluated.
    if (error instanceof OperationError && NOT_COUNTED.has(error.code)) return 'all'
    throw error
  }
}

const NOT_COUNTED: ReadonlySet<string> = new Set(['storage-timeout', 'search-unsupported'])

interface Counted {
  readonly left: Condition | undefined
  /** The counts of each group. */
  readonly counts: readonly (readonly number[])[]
  readonly text: string
}

async function counted(
  { ctx, search }: Pick<Deciding, 'ctx' | 'search'>,
  { scope, groups: compiled, prepared }: MeasureWork,
  { onlyWhole = false }: Counting,
): Promise<Counted | undefined> {
  const { storage } = ctx
  const decisions: (readonly Decision[])[] = []
  for (const { populations } of scope.groups) {
    const own: Decision[] = []
    for (const one of populations) {
      const decision = await decisionOf({ ctx, search, prepared, subjectType: scope.subjectType }, one)
      // The other criteria need not be examined, which takes about as long as evaluating a hundred subjects whose records are kept.
      if (!decision.isWhole && (onlyWhole || isNothingKnown(decision))) return undefined
      own.push(decision)
    }
    decisions.push(own)
  }
  const partly = decisions.flat().filter(({ isWhole }) => !isWhole)
  const population = populationOf(scope)
  ctx.authorize?.('search', population.type)
  const { query: everybody } = await parseSearch(population.type, population.conditions, search)
  const all = await storage.count(everybody)
  const rest = partly.length === 0 ? undefined : negated(allOf(...partly.map(({ yes, no }) => anyOf(yes, no))))
  const left = rest === undefined ? 0 : await storage.count(narrowed(everybody, rest))
  if (left * FEW > all) return undefined
  const known = rest === undefined ? everybody : narrowed(everybody, negated(rest))
  const counts: (readonly number[])[] = []
  for (const [index, group] of compiled.entries()) {
    const { memberships } = group.compiled
    counts.push(await countsOf(storage, known, { memberships, decisions: decisions[index] ?? [] }))
  }
  const text = `Searches decide all criteria of ${all - left} of ${all} subjects, who were counted by them; the others were evaluated.`
  return { left: rest, counts, text }
}

function isNothingKnown({ yes, no }: Decision): boolean {
  return isOfNobody(yes) && isOfNobody(no)
}

/** True if only numbers of subjects are requested, and the storage can count without reading. */
function isCountable({ storage }: OperationContext, { scope, groups, supplements }: MeasureWork): boolean {
  const { kept, individual, listed, coverage } = scope
  if (!storage.capabilities.counts || storage.scan === undefined) return false
  if (kept !== undefined || individual === true || listed === true || coverage === true || supplements.length > 0) return false
  if (groups.length === 0 || singleSubject(scope) !== undefined) return false
  if (scope.groups.some(({ populations }) => populations.some(({ members }) => members !== undefined))) return false
  return groups.every(
    ({ compiled: { memberships, populations, stratifiers } }) =>
      stratifiers.length === 0 &&
      memberships.every(({ observed }) => observed === undefined) &&
      populations.every(({ basis }) => basis === undefined || basis === 'boolean'),
  )
}

async function countsOf(
  storage: OperationContext['storage'],
  known: SearchQuery,
  { memberships, decisions }: { readonly memberships: readonly Membership[]; readonly decisions: readonly Decision[] },
): Promise<readonly number[]> {
  const answers = new Map<string, number>()
  const counts: number[] = []
  for (const { all, none } of memberships) {
    const members = [...new Set(all)].flatMap((index) => decisions[index]?.yes ?? [])
    const others = none.flatMap((index) => decisions[index]?.yes ?? []).map(negated)
    const query = narrowed(known, allOf(...members, ...others))
    const key = JSON.stringify(query.where)
    const count = answers.get(key) ?? (await storage.count(query))
    answers.set(key, count)
    counts.push(count)
  }
  return counts
}
