import type { JsonObject } from '../json/index.js'
import type { SystemSections } from '../storage/index.js'
import type { Work } from '../work/index.js'
import type { CodeSystemProvider, Filter } from './provider.js'

/** A code system that a context knows beside CodeSystem resources: by a rule, or from releases that were imported. */
export type CodeSystem = ComputedSystem | ImportedSystem

/**
 * A code system whose codes are made by a rule instead of being listed: units, language tags, media types. A CodeSystem resource of the same
 * url, or an imported system, goes before it. It says the same of a code each time: answers are kept.
 */
export interface ComputedSystem {
  readonly url: string
  readonly version?: string
  readonly name: string
  /** Language of displays; unknown when absent. */
  readonly language?: string
  /** False when `find` takes a code in upper and lower case alike. */
  readonly caseSensitive: boolean
  /**
   * Canonicals of value sets that list the codes which are in common use. Those of the first that is known represent the system where its
   * codes are to be listed; such a list is refused when there is none.
   */
  readonly common?: readonly string[]
  /** The concept of a code in the form of `CodeSystem.concept`, its `code` as the system spells it; `undefined` for a code that is none. */
  find(code: string): JsonObject | undefined
  /** Why a code is none, for people; `undefined` when there is no more to say than that. */
  whyNot?(code: string): string | undefined
  /** The test of a filter of the system's own; `undefined` for a filter that every system has. */
  filter?(property: string, op: string, value: string): ((code: string) => boolean) | undefined
  /** The ValueSet that a canonical means which the system defines without a resource; its `url` is the canonical. `undefined` for any other canonical. */
  implicitValueSet?(canonical: string): JsonObject | undefined
}

/** Types of resources that a code system can define by their canonicals alone. */
export type ImplicitType = 'ValueSet' | 'ConceptMap'

/**
 * A code system whose releases are imported into a `ConceptStore`: how they are opened, which version is meant, and what the system
 * defines without resources. `snomed()` of `@fhir-ops/snomed` is one.
 */
export interface ImportedSystem {
  readonly url: string
  readonly name: string
  /** The layout of the releases that it opens: `format` of `StoredSystem`. */
  readonly format: string
  /** Memory that an open release takes for each of its concepts, in bytes; the cache of the context counts with it. */
  readonly bytesPerConcept: number
  /**
   * Opens a release. The result is kept as long as the cache has room, and shared by all requests.
   *
   * @param header `header` of the `StoredSystem`.
   * @throws {OperationError} `storage-damaged` when the header cannot be read.
   */
  open(sections: SystemSections, header: string): OpenRelease
  /**
   * Picks the version that is meant among those that were imported.
   *
   * @param asked As written by the caller, perhaps with wild cards; the default version when absent.
   */
  pickVersion(versions: readonly string[], asked: string | undefined): string | undefined
  /**
   * Recognises the canonical of a value set or concept map that the code system defines without a resource.
   *
   * @returns The version that the canonical names, if it does; `undefined` for any other canonical.
   */
  implicitVersion?(type: ImplicitType, canonical: string): { readonly version?: string } | undefined
  /**
   * Checks what can be said of a filter without any release: that its value is written in the language that the property takes.
   *
   * @returns Why the value is none, for people; `undefined` when nothing is wrong with it, and for filters that need a release to be judged.
   */
  filterProblem?(filter: Filter): string | undefined
}

/** An open release of an imported code system. */
export interface OpenRelease {
  /** Makes what every provider needs, while other work runs in between. Absent where opening makes it. */
  readonly build?: () => Work<unknown>
  /** The provider for a request. What was not built before is built synchronously. */
  readonly provider: () => CodeSystemProvider
  /**
   * The resource that a canonical means which `implicitVersion` recognised. Its `url` is the canonical.
   *
   * @returns `undefined` when the release has no such content.
   */
  readonly implicitResource?: (type: ImplicitType, canonical: string) => JsonObject | undefined
}

/** True for a code system whose releases are imported. */
export function isImported(system: CodeSystem): system is ImportedSystem {
  return 'open' in system
}
