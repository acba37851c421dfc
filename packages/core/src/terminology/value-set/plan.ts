import { OperationError, quoted } from '../../errors/index.js'
import type { Pace } from '../../context/index.js'
import type { SystemChoice, SystemFamily } from '../code-system/system-family.js'
import type { CodeSystemProvider } from '../../code-system/index.js'
import type { PlannedFilter } from '../filter/concept-set.js'
import { nameOf, type PartDefinition, type ListedCode, type ValueSetDefinition } from './value-set.js'

/** A value set with everything that it refers to resolved. */
export interface ValueSetPlan {
  readonly valueSet: ValueSetDefinition
  /** True for a contained value set. */
  readonly contained: boolean
  readonly includes: readonly PartPlan[]
  readonly excludes: readonly PartPlan[]
  /** Whether equal codes of different versions are the same code; when absent, includes and excludes have different defaults. */
  readonly versionsMatch?: boolean
  /** The value sets that its includes and excludes import, each once. */
  readonly imported: ReadonlySet<ValueSetPlan>
  /** The code systems whose codes it includes or excludes, also through imports, by url. */
  readonly systems: ReadonlyMap<string, NamedSystem>
  /** Its own includes and excludes with filters, by url of the code system. */
  readonly filtered: ReadonlyMap<string, readonly PartPlan[]>
}

/** A code system with the versions that a value set names. */
export interface NamedSystem {
  readonly family: SystemFamily
  /** The versions that includes and excludes state; contains `undefined` if one states none. */
  readonly versions: ReadonlySet<string | undefined>
}

/** A resolved include or exclude. */
export interface PartPlan {
  readonly kind: 'include' | 'exclude'
  /** The value set that it belongs to. */
  readonly valueSet: ValueSetDefinition
  /** FHIRPath in the value set: `ValueSet.compose.include[0]`. */
  readonly path: string
  readonly definition: PartDefinition
  /** The code system; absent for an include of only value sets. */
  readonly family?: SystemFamily
  readonly filters: readonly PlannedFilter[]
  readonly imports: readonly ValueSetPlan[]
  /** Unknown imports, each as `url|version` or url. */
  readonly missing: readonly string[]
}

/** A value set with resolved includes and excludes. */
type LookedUpValueSet = Omit<ValueSetPlan, 'imported' | 'systems' | 'filtered'>

/** Maximum number of versions of one code system in a value set, because membership is tested in one after the other. */
const MOST_VERSIONS = 100

/**
 * Creates the plan of a value set with resolved includes and excludes.
 *
 * @throws {OperationError} `too-costly` for one that names too many versions of a code system.
 */
export async function completePlan(pace: Pace, valueSet: LookedUpValueSet): Promise<ValueSetPlan> {
  const parts = everyPart(valueSet)
  const systems = new Map<string, MutableNamedSystem>()
  const add = (family: SystemFamily, versions: Iterable<string | undefined>): void => {
    const known = systems.get(family.url) ?? { family, versions: new Set() }
    systems.set(family.url, known)
    for (const version of versions) known.versions.add(version)
    if (known.versions.size > MOST_VERSIONS) throw tooManyVersions(valueSet, family)
  }
  for (const { family, definition } of parts) {
    const wait = pace.step()
    if (wait !== undefined) await wait
    if (family !== undefined) add(family, [definition.version])
  }
  const imported = new Set(parts.flatMap(({ imports }) => imports))
  for (const one of imported) {
    for (const { family, versions } of one.systems.values()) {
      const wait = pace.step()
      if (wait !== undefined) await wait
      add(family, versions)
    }
  }
  const withFilters = parts.filter(({ filters }) => filters.length > 0)
  return { ...valueSet, imported, systems, filtered: Map.groupBy(withFilters, ({ family }) => family?.url ?? '') }
}

interface MutableNamedSystem extends NamedSystem {
  readonly versions: Set<string | undefined>
}

function tooManyVersions({ valueSet }: LookedUpValueSet, { url }: SystemFamily): OperationError {
  return new OperationError(
    'too-costly',
    `The value set ${quoted(nameOf(valueSet))} names more than ${MOST_VERSIONS} versions of ${quoted(url)}.`,
  )
}

/** Returns the includes and excludes of a value set. */
export function everyPart({ includes, excludes }: Pick<ValueSetPlan, 'includes' | 'excludes'>): readonly PartPlan[] {
  return [...includes, ...excludes]
}

/** Returns the plan and all plans that it imports, each once, importing plans first. */
export function withImports(plan: ValueSetPlan): readonly ValueSetPlan[] {
  const found = new Set([plan])
  for (const one of found) for (const imported of one.imported) found.add(imported)
  return [...found]
}

/** Returns the unknown imports of the plan and of all plans that it imports. */
export function missingImports(plan: ValueSetPlan): readonly string[] {
  return withImports(plan).flatMap((one) => everyPart(one).flatMap(({ missing }) => missing))
}

/** True if an exclude applies to one version, by `versionsMatch` of the value set or for a list with a version; otherwise it applies to all versions. */
export function keepsVersions(plan: ValueSetPlan, { definition }: PartPlan): boolean {
  return plan.versionsMatch === false || (definition.concepts !== undefined && definition.version !== undefined)
}

/** True if an exclude lists codes without version: it removes them from every included version, even if the newest version does not have them. */
export function namesCodesOfAnyVersion(plan: ValueSetPlan, part: PartPlan): boolean {
  return part.definition.concepts !== undefined && !keepsVersions(plan, part)
}

/** A code that may be in a value set. */
export interface CodeInQuestion {
  readonly system: string
  readonly version?: string | undefined
  readonly code: string
  /** Helps to choose among several versions of the system. */
  readonly display?: string | undefined
}

/** Whether a code is in a value set, with details. */
export interface Membership {
  /** `unknown` when a code system that matters for the code is unknown. */
  readonly state: 'in' | 'out' | 'unknown'
  /** Versions that includes of the code's system resolve to, in the order in which they were tried. */
  readonly choices: readonly SystemChoice[]
  /** The version that decided. */
  readonly provider?: CodeSystemProvider
  readonly concept?: number
  /** The code's entry in a list of codes. */
  readonly listed?: ListedCode
  /** Name of the value set that has the list. */
  readonly owner?: string
  /** True if a filter of the value set explicitly selects inactive concepts. */
  readonly knowingly?: boolean
  /** Why a code that the definition selects does not count. */
  readonly barred?: 'inactive' | 'abstract'
}
