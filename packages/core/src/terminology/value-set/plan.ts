import { OperationError, quoted } from '../../errors/index.js'
import type { Pace } from '../../context/index.js'
import type { SystemChoice, SystemFamily } from '../code-system/system-family.js'
import type { CodeSystemProvider, Filter } from '../../code-system/index.js'
import { nameOf, type PartDefinition, type ListedCode, type ValueSetDefinition } from './value-set.js'

/** A value set with everything that it refers to looked up. */
export interface ValueSetPlan {
  readonly valueSet: ValueSetDefinition
  /** True for a value set that another one contains. */
  readonly contained: boolean
  readonly includes: readonly PartPlan[]
  readonly excludes: readonly PartPlan[]
  /** Whether equal codes of different versions are one code; each side has its own default when absent. */
  readonly versionsMatch?: boolean
  /** The value sets that its includes and excludes import, each once. */
  readonly imported: ReadonlySet<ValueSetPlan>
  /** The code systems that it takes or excludes codes of, imports included, by url. */
  readonly systems: ReadonlyMap<string, NamedSystem>
  /** Its own includes and excludes with filters, by url of their code system. */
  readonly filtered: ReadonlyMap<string, readonly PartPlan[]>
}

/** A code system as a value set names it. */
export interface NamedSystem {
  readonly family: SystemFamily
  /** The versions that includes and excludes state; `undefined` is among them when one states none. */
  readonly versions: ReadonlySet<string | undefined>
}

/** One include or exclude, looked up. */
export interface PartPlan {
  readonly kind: 'include' | 'exclude'
  /** The value set that has it. */
  readonly valueSet: ValueSetDefinition
  /** FHIRPath in that value set: `ValueSet.compose.include[0]`. */
  readonly path: string
  readonly definition: PartDefinition
  /** Absent for an include of value sets alone. */
  readonly family?: SystemFamily
  readonly filters: readonly Filter[]
  readonly imports: readonly ValueSetPlan[]
  /** Imports that are not known, each as `url|version` or url. */
  readonly missing: readonly string[]
}

/** A value set whose includes and excludes are looked up. */
export type LookedUpValueSet = Omit<ValueSetPlan, 'imported' | 'systems' | 'filtered'>

/** Most versions of one code system that a value set may name: whether a code is in it is asked of one after the other. */
const MOST_VERSIONS = 100

/**
 * The plan of a value set whose includes and excludes are looked up.
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

/** The includes and excludes of a value set. */
export function everyPart({ includes, excludes }: Pick<ValueSetPlan, 'includes' | 'excludes'>): readonly PartPlan[] {
  return [...includes, ...excludes]
}

/** The plan and all plans that it imports, each once, importers first. */
export function withImports(plan: ValueSetPlan): readonly ValueSetPlan[] {
  const found = new Set([plan])
  for (const one of found) for (const imported of one.imported) found.add(imported)
  return [...found]
}

/** Imports that are not known, of the plan and of all that it imports. */
export function missingImports(plan: ValueSetPlan): readonly string[] {
  return withImports(plan).flatMap((one) => everyPart(one).flatMap(({ missing }) => missing))
}

/** A code that may be in a value set. */
export interface CodeInQuestion {
  readonly system: string
  readonly version?: string | undefined
  readonly code: string
  /** Helps to choose among several versions of the system. */
  readonly display?: string | undefined
}

/** Whether a code is in a value set, and what was seen on the way. */
export interface Membership {
  /** `unknown` when a code system that the value set takes the code from is not known. */
  readonly state: 'in' | 'out' | 'unknown'
  /** Versions that includes of the code's system came to, in the order in which they were tried. */
  readonly choices: readonly SystemChoice[]
  /** The version that decided. */
  readonly provider?: CodeSystemProvider
  readonly concept?: number
  /** The code's entry in a list of codes, and the name of the value set that has the list. */
  readonly listed?: ListedCode
  readonly owner?: string
  /** True when the value set takes the concept knowing that it is inactive. */
  readonly knowingly?: boolean
  /** Why a code that the definition selects is out nevertheless. */
  readonly barred?: 'inactive' | 'abstract'
}
