import { compareVersions } from '../../content/index.js'
import { chooseVersion, type SystemChoice } from '../code-system/system-family.js'
import type { TerminologyScope } from '../scope.js'
import { isOfVersion } from '../versions.js'
import type { CodeInQuestion, PartPlan, ValueSetPlan } from './plan.js'
import { keepsVersions, namesCodesOfAnyVersion } from './selection.js'

/** In which versions of its system a code is looked for. */
export interface VersionAsked {
  readonly scope: TerminologyScope
  readonly code: CodeInQuestion
  /** When set, the code counts in this version of its system alone. */
  readonly only?: VersionOnly | undefined
  /** True for excludes, which take inactive and abstract codes whatever the request says. */
  readonly excluding?: boolean
  readonly looked: LookedVersions
}

/** The version that a code counts in. */
export interface VersionOnly {
  /** `undefined` of a code system that has none. */
  readonly version: string | undefined
}

/** What was found of versions for one question: it is needed for each version, and would take as long as the value set has parts. */
export interface LookedVersions {
  readonly versions: Map<ValueSetPlan, readonly VersionOnly[]>
  /** By the version in the code that helps to choose. */
  readonly includes: Map<string | undefined, Map<ValueSetPlan, VersionedIncludes>>
}

/** Nothing found so far. */
export function lookedVersions(): LookedVersions {
  return { versions: new Map(), includes: new Map() }
}

/** True when the value set names more than one version of the code's system. */
export function isVersioned({ code }: VersionAsked, { systems }: ValueSetPlan): boolean {
  return (systems.get(code.system)?.versions.size ?? 0) > 1
}

/** The versions of the code's system that includes and excludes resolve to, the newest first; an unknown one as it is stated. */
export function versionsIn({ scope, code, looked }: VersionAsked, plan: ValueSetPlan): readonly VersionOnly[] {
  const known = looked.versions.get(plan)
  if (known !== undefined) return known
  const { family, versions = [] } = plan.systems.get(code.system) ?? {}
  if (family === undefined) return []
  const found = new Set(Array.from(versions, (include) => versionOf(chooseVersion(family, { include, rules: scope.rules }))))
  const sorted = Array.from(found, (version) => ({ version })).toSorted((a, b) => compareVersions(b.version, a.version))
  looked.versions.set(plan, sorted)
  return sorted
}

/** The version that an include came to, or that it states when that is not known. */
export function versionOf({ provider, wished }: SystemChoice): string | undefined {
  return provider === undefined ? wished : provider.header.version
}

/**
 * The version that an include or exclude resolves to, when it is of the code's system. Where versions count, the version in the code chooses that of
 * includes alone: an exclude without one is of the newest, as in the expansion.
 */
export function choiceFor(asked: VersionAsked, { family, definition }: PartPlan): SystemChoice | undefined {
  const { scope, code } = asked
  if (family?.url !== code.system) return undefined
  return chooseVersion(family, { include: definition.version, value: choosingVersion(asked), rules: scope.rules })
}

function choosingVersion({ code, only, excluding }: VersionAsked): string | undefined {
  return excluding === true && only !== undefined ? undefined : code.version
}

/** The versions of which an exclude takes the code from what is included; `undefined` where there is but one. */
export function excludedVersions(
  asked: VersionAsked,
  plan: ValueSetPlan,
  { part, included }: { readonly part: PartPlan; readonly included: VersionOnly },
): readonly (VersionOnly | undefined)[] {
  if (keepsVersions(plan, part)) return [included]
  if (part.family === undefined || namesCodesOfAnyVersion(plan, part)) return versionsIn(asked, plan)
  const choice = choiceFor({ ...asked, excluding: true, only: included }, part)
  return [choice === undefined ? undefined : { version: versionOf(choice) }]
}

/** The includes of a value set that have a say about a code. */
interface VersionedIncludes {
  /** Those of the code's system, by the version that they resolve to. */
  readonly byVersion: ReadonlyMap<string | undefined, readonly IndexedInclude[]>
  readonly others: readonly IndexedInclude[]
}

interface IndexedInclude {
  readonly index: number
  readonly part: PartPlan
}

/** The includes to ask: not those of other versions of the code's system, where one resolves to the requested version. */
export function includesFor(asked: VersionAsked, plan: ValueSetPlan): readonly PartPlan[] {
  const wanted = asked.only ?? (asked.code.version === undefined ? undefined : { version: asked.code.version })
  if (wanted === undefined) return plan.includes
  const { byVersion, others } = versionedIncludes(asked, plan)
  const named = [...byVersion].filter(([version]) => isOfVersion(wanted.version, version))
  if (asked.only === undefined && named.length === 0) return plan.includes
  const found = [...others, ...named.flatMap(([, parts]) => parts)]
  return found.sort((a, b) => a.index - b.index).map(({ part }) => part)
}

function versionedIncludes(asked: VersionAsked, plan: ValueSetPlan): VersionedIncludes {
  const chosenBy = choosingVersion(asked)
  const made = asked.looked.includes.get(chosenBy) ?? new Map<ValueSetPlan, VersionedIncludes>()
  asked.looked.includes.set(chosenBy, made)
  const known = made.get(plan)
  if (known !== undefined) return known
  const others: IndexedInclude[] = []
  const own: (IndexedInclude & VersionOnly)[] = []
  for (const [index, part] of plan.includes.entries()) {
    const choice = choiceFor(asked, part)
    if (choice !== undefined) own.push({ index, part, version: versionOf(choice) })
    else if (hasSay(asked, part)) others.push({ index, part })
  }
  const found = { byVersion: Map.groupBy(own, ({ version }) => version), others }
  made.set(plan, found)
  return found
}

/** Of an include of another code system there is nothing to say but that it is one, and that an import of it is not known. */
function hasSay({ scope }: VersionAsked, { family, missing }: PartPlan): boolean {
  return family === undefined || missing.length > 0 || scope.ctx.explain !== undefined
}
