import { canonicalOf, type Kept } from '../../content/index.js'
import type { OperationContext } from '../../context/index.js'
import { sharedWork, type Work } from '../../work/index.js'
import { chooseVersion, preparedChoice } from '../code-system/system-family.js'
import { createMarks, type Marks } from '../memo.js'
import { scopeOver, withContainedSystems, type SystemInUse, type TerminologyScope } from '../scope.js'
import { hasRules, type VersionRules } from '../versions.js'
import type { DecidingInclude, decidingInclude } from './deciding-include.js'
import { namedValueSet, type LooseValueSetName } from './find-value-set.js'
import { planOfExpansion, planWithSupplements } from './make-plan.js'
import type { Members } from './members.js'
import { completePlan, missingImports, type PartPlan, type ValueSetPlan } from './plan.js'
import { usedDefinitions, type UsedDefinitions } from './used-definitions.js'

/** The value set that a request names, and the rules for it. */
export interface ValueSetQuestion extends LooseValueSetName {
  readonly rules?: VersionRules | undefined
  /** Canonicals of code systems whose codes are left out. */
  readonly excludeSystems?: readonly string[] | undefined
  /** Canonicals of supplements that must be used. */
  readonly useSupplement?: readonly string[] | undefined
}

// Callers pass these functions, so that code that lists codes does not load the code that checks codes, and vice versa.
/** `membersOf`. */
type ListMembers = (scope: TerminologyScope, plan: ValueSetPlan) => Work<Members>
/** `decidingInclude`. */
type Decide = typeof decidingInclude

/** A value set with everything that it refers to resolved. */
export interface PlannedValueSet {
  readonly scope: TerminologyScope
  readonly plan: ValueSetPlan
  /** Returns its codes, computed at first use by `membersOf`. @throws {OperationError} as `membersOf`. */
  readonly members: (list: ListMembers) => Promise<Members>
  /** Returns the definitions that these members come from, collected once. */
  readonly used: (members: Members) => UsedDefinitions
  /** Returns the only include that decides about the codes of a system, found once; absent where options of the request also matter. */
  readonly deciding?: (decide: Decide, system: string) => DecidingInclude | undefined
}

/**
 * Resolves the value set that a request names. Results that depend only on definitions are kept until one of them changes.
 *
 * @param codes The codes in question, whose versions may be those that are used.
 * @throws {OperationError} as `namedValueSet`, `terminologyScope` and `makePlan`.
 */
export async function plannedValueSet(
  ctx: OperationContext,
  question: ValueSetQuestion,
  codes: readonly VersionedCode[] = [],
): Promise<PlannedValueSet> {
  const kept = await keptFor(ctx, question)
  const name = `value-set ${question.valueSetVersion ?? ''} ${question.url}`
  const known = usable(kept?.get(name))
  if (known !== undefined) return { ...planned(scopeOver(ctx, { kept }), known), deciding: known.deciding }
  const valueSet = await namedValueSet(ctx, question)
  const own = withContainedSystems(ctx, valueSet.resource)
  const options = { supplements: question.useSupplement, asked: question.useSupplement, rules: question.rules }
  const stated = await planWithSupplements(own ?? ctx, valueSet, own === undefined ? { ...options, kept } : options)
  const { supplements } = stated
  const carried = await planOfExpansion(stated, { ...options, supplements })
  const { scope, plan } = carried ?? stated
  if (supplements.length > 0 && missingImports(plan).length === 0) scope.demandUse(await systemsInUse(scope, plan, codes))
  const made = keptPlan(scope, await withoutSystems(scope, plan, question.excludeSystems ?? []))
  if (supplements.length === 0 && own === undefined && carried === undefined) kept?.set(name, PLANS.mark(made))
  return planned(scope, made)
}

/** A code that may state a version of its system. */
interface VersionedCode {
  readonly system?: string | undefined
  readonly version?: string | undefined
}

/** Returns the versions of code systems that includes and excludes resolve to, also where a code states the version. */
async function systemsInUse(scope: TerminologyScope, plan: ValueSetPlan, codes: readonly VersionedCode[]): Promise<readonly SystemInUse[]> {
  const stated = Map.groupBy(codes, ({ system }) => system)
  const found: SystemInUse[] = []
  for (const [url, { family, versions }] of plan.systems) {
    const values = new Set([undefined, ...(stated.get(url) ?? []).map(({ version }) => version)])
    for (const include of versions) {
      for (const value of values) {
        await scope.pace.step()
        const { provider } = await preparedChoice(family, { include, value, rules: scope.rules })
        found.push(provider?.header ?? { url, unknown: true })
      }
    }
  }
  return found
}

/** Returns the kept results; `undefined` when options of the request also matter, or when an explanation is requested. */
function keptFor({ content, explain }: OperationContext, question: ValueSetQuestion): Kept | undefined | Promise<Kept> {
  return explain !== undefined || hasOwnRules(question) ? undefined : content.kept?.()
}

function hasOwnRules({ valueSet, rules, useSupplement = [], excludeSystems = [] }: ValueSetQuestion): boolean {
  return valueSet !== undefined || useSupplement.length > 0 || excludeSystems.length > 0 || (rules !== undefined && hasRules(rules))
}

interface KeptPlan {
  readonly plan: ValueSetPlan
  readonly members: (list: ListMembers) => Work<Members>
  readonly used: (members: Members) => UsedDefinitions
  /** Drops the unfinished list of members, which would otherwise stay in memory for every value set whose expansion fails. */
  readonly giveUp: () => void
  readonly deciding: (decide: Decide, system: string) => DecidingInclude | undefined
  /** False once a code system of the plan holds codes of a single request. */
  readonly lasts: () => boolean
}

function usable(kept: object | undefined): KeptPlan | undefined {
  return kept !== undefined && PLANS.has(kept) && kept.lasts() ? kept : undefined
}

const PLANS: Marks<KeptPlan> = createMarks()

function keptPlan(scope: TerminologyScope, plan: ValueSetPlan): KeptPlan {
  const families = [...plan.systems.values()].map(({ family }) => family)
  let members: (() => Work<Members>) | undefined
  let used: UsedDefinitions | undefined
  const includes = new Map<string, DecidingInclude | undefined>()
  return {
    plan,
    members: (list) => (members ??= sharedWork(() => list(scope, plan)))(),
    used: (found) => (used ??= usedDefinitions(plan, found)),
    giveUp: () => (members = undefined),
    deciding(decide, system) {
      if (!includes.has(system) && plan.systems.has(system)) includes.set(system, decide(plan, system))
      return includes.get(system)
    },
    lasts: () => families.every((family) => family.lasts()),
  }
}

function planned(scope: TerminologyScope, kept: KeptPlan): PlannedValueSet {
  const members = async (list: ListMembers): Promise<Members> => {
    try {
      return await scope.pace.run(kept.members(list))
    } catch (error) {
      kept.giveUp()
      throw error
    }
  }
  return { scope, plan: kept.plan, members, used: kept.used }
}

/**
 * Removes the codes of some code systems from a value set and its imports. The code systems may be unknown.
 *
 * @param excluded Canonicals of the code systems; without a version, all versions.
 */
async function withoutSystems(scope: TerminologyScope, plan: ValueSetPlan, excluded: readonly string[]): Promise<ValueSetPlan> {
  if (excluded.length === 0) return plan
  const named = versionsNamed(excluded)
  const made = new Map<ValueSetPlan, ValueSetPlan>()
  const isLeft = ({ family, definition }: PartPlan): boolean => {
    const versions = family === undefined ? undefined : named.get(family.url)
    if (family === undefined || versions === undefined) return true
    const { provider } = chooseVersion(family, { include: definition.version, rules: scope.rules })
    return !versions.has(undefined) && !versions.has(provider?.header.version)
  }
  const reduced = async (one: ValueSetPlan): Promise<ValueSetPlan> => {
    const known = made.get(one)
    if (known !== undefined) return known
    const includes: PartPlan[] = []
    for (const part of one.includes) {
      await scope.pace.step()
      if (!isLeft(part)) continue
      const imports: ValueSetPlan[] = []
      for (const other of part.imports) imports.push(await reduced(other))
      includes.push({ ...part, imports })
    }
    const result = await completePlan(scope.pace, { ...one, includes })
    made.set(one, result)
    return result
  }
  return reduced(plan)
}

/** Groups versions by url; `undefined` stands for a canonical without version. */
function versionsNamed(canonicals: readonly string[]): ReadonlyMap<string, ReadonlySet<string | undefined>> {
  const groups = Map.groupBy(canonicals.map(canonicalOf), ({ url }) => url)
  return new Map(Array.from(groups, ([url, group]) => [url, new Set(group.map(({ version }) => version))]))
}
