import { compareVersions } from '../../content/index.js'
import { chooseVersion, type SystemChoice } from '../code-system/system-family.js'
import type { TerminologyScope } from '../scope.js'
import { isOfVersion } from '../versions.js'
import { keepsVersions, namesCodesOfAnyVersion, type CodeInQuestion, type PartPlan, type ValueSetPlan } from './plan.js'

/** A question for a code in the versions of its system. */
export interface VersionQuestion {
  readonly scope: TerminologyScope
  readonly code: CodeInQuestion
  /** When set, only this version of the code's system counts. */
  readonly only?: VersionOnly | undefined
  /** True for excludes, which apply to inactive and abstract codes whatever the request says. */
  readonly excluding?: boolean
  readonly memo: VersionMemo
}

/** The version in which a code counts. */
export interface VersionOnly {
  /** `undefined` for a code system without version. */
  readonly version: string | undefined
}

/** Results on versions for one question. Kept, because they are needed for each version and finding them takes time for each part of the value set. */
interface VersionMemo {
  readonly versions: Map<ValueSetPlan, readonly VersionOnly[]>
  /** Includes by the version of the code, which influences the choice. */
  readonly includes: Map<string | undefined, Map<ValueSetPlan, VersionedIncludes>>
}

/** Creates an empty result. */
export function versionMemo(): VersionMemo {
  return { versions: new Map(), includes: new Map() }
}

/** True if the value set names more than one version of the code's system. */
export function isVersioned({ code }: VersionQuestion, { systems }: ValueSetPlan): boolean {
  return (systems.get(code.system)?.versions.size ?? 0) > 1
}

/** Returns the versions of the code's system that includes and excludes resolve to, the newest first; an unknown version as stated. */
export function versionsIn({ scope, code, memo }: VersionQuestion, plan: ValueSetPlan): readonly VersionOnly[] {
  const known = memo.versions.get(plan)
  if (known !== undefined) return known
  const { family, versions = [] } = plan.systems.get(code.system) ?? {}
  if (family === undefined) return []
  const found = new Set(Array.from(versions, (include) => versionOf(chooseVersion(family, { include, rules: scope.rules }))))
  const sorted = Array.from(found, (version) => ({ version })).toSorted((a, b) => compareVersions(b.version, a.version))
  memo.versions.set(plan, sorted)
  return sorted
}

/** Returns the version that an include resolves to; if it is unknown, the stated one. */
export function versionOf({ provider, wished }: SystemChoice): string | undefined {
  return provider === undefined ? wished : provider.header.version
}

/**
 * Returns the version that an include or exclude resolves to, if it is of the code's system. Where versions count, the code's version influences only
 * the choice for includes: an exclude without version means the newest, as in expansions.
 */
export function choiceFor(asked: VersionQuestion, { family, definition }: PartPlan): SystemChoice | undefined {
  const { scope, code } = asked
  if (family?.url !== code.system) return undefined
  return chooseVersion(family, { include: definition.version, value: choosingVersion(asked), rules: scope.rules })
}

function choosingVersion({ code, only, excluding }: VersionQuestion): string | undefined {
  return excluding === true && only !== undefined ? undefined : code.version
}

/** Returns the versions in which an exclude removes the code from the includes; `undefined` where there is only one. */
export function excludedVersions(
  asked: VersionQuestion,
  plan: ValueSetPlan,
  { part, included }: { readonly part: PartPlan; readonly included: VersionOnly },
): readonly (VersionOnly | undefined)[] {
  if (keepsVersions(plan, part)) return [included]
  if (part.family === undefined || namesCodesOfAnyVersion(plan, part)) return versionsIn(asked, plan)
  const choice = choiceFor({ ...asked, excluding: true, only: included }, part)
  return [choice === undefined ? undefined : { version: versionOf(choice) }]
}

/** The includes of a value set that matter for a code. */
interface VersionedIncludes {
  /** Includes of the code's system, by the version that they resolve to. */
  readonly byVersion: ReadonlyMap<string | undefined, readonly IndexedInclude[]>
  readonly others: readonly IndexedInclude[]
}

interface IndexedInclude {
  readonly index: number
  readonly part: PartPlan
}

/** Returns the includes to search: if one resolves to the requested version of the code's system, without those of other versions. */
export function includesFor(asked: VersionQuestion, plan: ValueSetPlan): readonly PartPlan[] {
  const wanted = asked.only ?? (asked.code.version === undefined ? undefined : { version: asked.code.version })
  if (wanted === undefined) return plan.includes
  const { byVersion, others } = versionedIncludes(asked, plan)
  const named = [...byVersion].filter(([version]) => isOfVersion(wanted.version, version))
  if (asked.only === undefined && named.length === 0) return plan.includes
  const found = [...others, ...named.flatMap(([, parts]) => parts)]
  return found.sort((a, b) => a.index - b.index).map(({ part }) => part)
}

function versionedIncludes(asked: VersionQuestion, plan: ValueSetPlan): VersionedIncludes {
  const chosenBy = choosingVersion(asked)
  const made = asked.memo.includes.get(chosenBy) ?? new Map<ValueSetPlan, VersionedIncludes>()
  asked.memo.includes.set(chosenBy, made)
  const known = made.get(plan)
  if (known !== undefined) return known
  const others: IndexedInclude[] = []
  const own: (IndexedInclude & VersionOnly)[] = []
  for (const [index, part] of plan.includes.entries()) {
    const choice = choiceFor(asked, part)
    if (choice !== undefined) own.push({ index, part, version: versionOf(choice) })
    else if (canMatter(asked, part)) others.push({ index, part })
  }
  const found = { byVersion: Map.groupBy(own, ({ version }) => version), others }
  made.set(plan, found)
  return found
}

/** True if an include can matter: one of another code system matters only if it has an unknown import, or for the explanation. */
function canMatter({ scope }: VersionQuestion, { family, missing }: PartPlan): boolean {
  return family === undefined || missing.length > 0 || scope.ctx.explain !== undefined
}
