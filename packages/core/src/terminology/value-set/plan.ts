import type { SystemChoice, SystemFamily } from '../code-system/system-family.js'
import type { CodeSystemProvider, Filter } from '../../code-system/index.js'
import type { ConceptSetDefinition, ListedCode, ValueSetDefinition } from './value-set.js'

/** A value set with everything that it refers to looked up. */
export interface ValueSetPlan {
  readonly valueSet: ValueSetDefinition
  /** True for a value set that another one contains. */
  readonly contained: boolean
  readonly includes: readonly ConceptSetPlan[]
  readonly excludes: readonly ConceptSetPlan[]
  /** Whether equal codes of different versions are one code; each side has its own default when absent. */
  readonly versionsMatch?: boolean
  /** The code systems that it takes or excludes codes of, imports included, by url. */
  readonly systems: ReadonlyMap<string, NamedSystem>
}

/** A code system as a value set names it. */
export interface NamedSystem {
  readonly family: SystemFamily
  /** The versions that includes and excludes state; `undefined` is among them when one states none. */
  readonly versions: ReadonlySet<string | undefined>
  /** The includes and excludes with filters, imports included. */
  readonly filtered: ReadonlySet<ConceptSetPlan>
}

/** One include or exclude, looked up. */
export interface ConceptSetPlan {
  /** Name of the value set that has it, for messages. */
  readonly owner: string
  /** FHIRPath in that value set: `ValueSet.compose.include[0]`. */
  readonly path: string
  readonly definition: ConceptSetDefinition
  /** Absent for an include of value sets alone. */
  readonly family?: SystemFamily
  readonly filters: readonly Filter[]
  readonly imports: readonly ValueSetPlan[]
  /** Imports that are not known, each as `url|version` or url. */
  readonly missing: readonly string[]
}

/** The code systems that these includes and excludes name, and those of their imports. */
export function namedSystems(parts: readonly ConceptSetPlan[]): ReadonlyMap<string, NamedSystem> {
  const found = new Map<
    string,
    { readonly family: SystemFamily; readonly versions: Set<string | undefined>; readonly filtered: Set<ConceptSetPlan> }
  >()
  const add = (family: SystemFamily, versions: Iterable<string | undefined>, filtered: Iterable<ConceptSetPlan>): void => {
    const known = found.get(family.url) ?? { family, versions: new Set(), filtered: new Set() }
    found.set(family.url, known)
    for (const version of versions) known.versions.add(version)
    for (const part of filtered) known.filtered.add(part)
  }
  for (const part of parts) {
    const { family, definition, imports, filters } = part
    if (family !== undefined) add(family, [definition.version], filters.length > 0 ? [part] : [])
    for (const { systems } of imports) for (const named of systems.values()) add(named.family, named.versions, named.filtered)
  }
  return found
}

/** The plan and all plans that it imports, each once, importers first. */
export function withImports(plan: ValueSetPlan): readonly ValueSetPlan[] {
  const found = new Set([plan])
  for (const one of found) {
    for (const part of [...one.includes, ...one.excludes]) for (const imported of part.imports) found.add(imported)
  }
  return [...found]
}

/** Imports that are not known, of the plan and of all that it imports. */
export function missingImports(plan: ValueSetPlan): readonly string[] {
  return withImports(plan).flatMap(({ includes, excludes }) => [...includes, ...excludes].flatMap(({ missing }) => missing))
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
