import type { Bitmap } from '../bits/index.js'
import type { JsonObject } from '../json/index.js'
import type { SystemSections } from '../storage/index.js'
import type { Work } from '../work/index.js'

/** A code system that a context knows besides CodeSystem resources: by a rule, or from releases that were imported. */
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
  /** The concept of a code in the form of `CodeSystem.concept`, its `code` as the system spells it; `undefined` for text that is not a code. */
  find(code: string): JsonObject | undefined
  /** Why a text is not a code, for people; `undefined` when there is no more to say than that. */
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
   * @returns Why the value is not valid, for people; `undefined` when nothing is wrong with it, and for filters that need a release to be judged.
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

/** What a code system says about itself. */
export interface SystemHeader {
  readonly url: string
  readonly version?: string
  /** `name` of the CodeSystem. */
  readonly name?: string
  /** Language of displays; unknown when absent. */
  readonly language?: string
  readonly status: string
  readonly experimental: boolean
  /** `deprecated`, `withdrawn` ... */
  readonly standardsStatus?: string
  /** False when more codes exist than are known here (content `fragment` or `example`). */
  readonly complete: boolean
  readonly caseSensitive: boolean
  readonly versionNeeded: boolean
  /** False where the hierarchy does not say that what is below is a kind of what is above. Default true. */
  readonly subsumes?: boolean
  /** Types of declared properties (`integer`, `dateTime` ...) by code, where they are known. */
  readonly propertyTypes?: ReadonlyMap<string, string>
  /** Declared properties: code to uri. */
  readonly properties: ReadonlyMap<string, string | undefined>
  /** Language tag of displays where it is narrower than `language`: `en-US`. */
  readonly dialect?: string
  /** True when properties are concepts of the system itself; lookups then return all of them, with displays. Default false. */
  readonly propertiesAreConcepts?: boolean
  /** Properties that are returned only when they are requested by name. */
  readonly namedProperties?: ReadonlySet<string>
  /** Properties that the system defines and that cannot be returned: requesting one is refused. */
  readonly missingProperties?: ReadonlySet<string>
}

/** Where something is said about a concept: the code system itself or a supplement of it. */
export interface ConceptSource {
  /** In the form of `CodeSystem.concept`. */
  readonly concept: JsonObject
  /** Canonical of the supplement; absent for the code system. */
  readonly supplement?: string
}

/** What a concept says about its use. */
export interface ConceptStatus {
  readonly inactive: boolean
  /** True when it only groups others and should not be chosen. */
  readonly abstract: boolean
  /** `retired`, `deprecated` ...; absent for a concept that says nothing. */
  readonly status?: string
}

/** One text that a concept is known by. */
export interface ConceptText {
  readonly value: string
  readonly language?: string
  /** The Coding in `use`. */
  readonly use?: JsonObject
  /** True for the display of the code system, or of the value set in its place. */
  readonly main: boolean
  /** `withdrawn`, `deprecated` or `inactive` for a text that should no longer be used. */
  readonly outdated?: string
  /** Tags of dialects (`en-US`) in which it is the text to show. */
  readonly dialects?: readonly string[]
  /** True for a text that is right and not preferred; expansions include it only when designations are requested by name. */
  readonly minor?: boolean
  /** Canonical of the supplement that it comes from. */
  readonly supplement?: string
  /** True for a name that is unambiguous by itself, such as the fully specified name of SNOMED CT; lookups list it before others. */
  readonly unambiguous?: boolean
  /** Extensions of the designation. */
  readonly extension: readonly JsonObject[]
}

/** One filter of an include: `property op value`. */
export interface Filter {
  readonly property: string
  readonly op: string
  readonly value: string
}

/** Some concepts of one code system. Asking for one concept does not list them. */
export interface ConceptSet {
  readonly has: (concept: number) => boolean
  /** The same as `has`, where one question may take long. */
  readonly asked?: (concept: number) => Work<boolean>
  /** @throws {OperationError} `not-supported` when the system's codes cannot be listed. */
  readonly all: () => Work<Bitmap>
}

/** Who is whose parent among concepts that are numbered depth first, so that most descendants are a range. */
export interface Hierarchy {
  /** False when no concept has a parent. */
  readonly nested: boolean
  parents(concept: number): readonly number[]
  children(concept: number): readonly number[]
  /** True when the concept is the ancestor itself or below it, by any of its parents. */
  isWithin(concept: number, ancestor: number): boolean
  /** The concept and everything below it. */
  within(ancestor: number): Bitmap
  /** The concept and everything above it. */
  above(concept: number): Bitmap
}

/** What a text filter asks for: it must appear, as it is, at the start of a word of some text of a concept. */
export interface FilterWord {
  /** Folded. */
  readonly text: string
  /** Its first word, by which candidates are found. */
  readonly start: string
  /** True when it is more than the start of one word. */
  readonly verbatim: boolean
}

/**
 * The concepts with words that begin alike in their displays, each once, ordered by the place of the first such word, the length of the
 * display and their number.
 */
export interface PlaceOrder {
  /** `undefined` after the last. What is before is worked out, once. */
  at(i: number): number | undefined
}

/** Concepts in the orders that matches of a text filter come in. Texts are folded. */
export interface DisplayOrder {
  /** Empty without display. */
  display(concept: number): string
  length(concept: number): number
  /** False when some concept has no display. */
  readonly complete: boolean
  withCode(code: string): Iterable<number>
  startingWith(text: string): Uint32Array
  /** The concepts with a word in their display that begins so. */
  places(start: string): PlaceOrder
  /** Gives for a concept the place of the first word of its display that begins so; `FAR` when none does. */
  firstPlaces(start: string): (concept: number) => number
}

/** Sets over all concepts of a code system; each is made at first use and kept. */
export interface ConceptIndex {
  readonly size: number
  all(): Bitmap
  inactive(): Bitmap
  /** Builds what `inactive` needs, so that other work can run meanwhile. Absent where that takes no time. */
  buildInactive?(): Work<unknown>
  /** Concepts by the values of a property, as text. */
  values(property: string): ReadonlyMap<string, Bitmap>
  /** The same for `values`. */
  buildValues?(property: string): Work<unknown>
  /** The same for `withWord`. */
  buildTexts(): Work<unknown>
  withWord(word: FilterWord): Bitmap
  /** The words of texts that begin so, folded; some may come more than once. */
  words(start: string): Iterable<string>
  /** The order of matches by their displays; matches are compared one by one where there is none. */
  displayOrder?(): DisplayOrder | undefined
}

/** A value set that represents a system whose codes cannot be listed. */
export interface StandInValueSet {
  readonly url?: string
  /** `url|version`; `undefined` without url. */
  readonly canonical?: string
  readonly resource: JsonObject
}

/** Codes that are made by a grammar, besides those that are listed. */
export interface CodeGrammar {
  /** True for a concept that is not listed. */
  isMade(concept: number): boolean
  /** True once it was asked for a code that is not listed; the provider remembers such codes, so it is for one request only then. */
  isUsed(): boolean
  /** True when an include with these filters takes made codes. */
  admits(filters: readonly Filter[]): boolean
  /**
   * True when codes that are not listed may satisfy the filters of an include which takes no made codes: an expansion of it says that it is unclosed,
   * unless the request excludes post-coordinated codes. Never when absent.
   */
  mayExtend?(filters: readonly Filter[]): boolean
  /** What is reported about a made code that is right. */
  readonly note: string
  /** The value set that represents the system where its codes are to be listed. They cannot be counted then. */
  readonly common?: StandInValueSet
  /** Why a code is not made by the grammar; `undefined` when it is, or does not look as if it should be. */
  whyNot(code: string): string | undefined
}

/**
 * The concepts of one version of a code system.
 *
 * Concepts are numbers, depth first in the order of definition. A system whose codes are made by a grammar gives out numbers as codes are
 * found and has no `index`.
 */
export interface CodeSystemProvider {
  readonly header: SystemHeader
  /** Canonicals of the supplements that were added. */
  readonly supplements: readonly string[]
  /** The concept with this code, by the system's own rule for upper and lower case. */
  find(code: string): number | undefined
  code(concept: number): string
  /** Never empty; the code system first. */
  sources(concept: number): readonly ConceptSource[]
  status(concept: number): ConceptStatus
  readonly hierarchy: Hierarchy
  /** Absent when the codes cannot be listed. */
  readonly index?: ConceptIndex
  /** All texts but the display, where the sources do not state them. */
  designations?(concept: number): readonly ConceptText[]
  /**
   * The concepts for which a filter of the system's own holds; `undefined` for a filter that every system has.
   *
   * @param within This provider, perhaps with supplements added.
   */
  filter?(filter: Filter, within: CodeSystemProvider): ConceptSet | undefined
  /** True for a filter that takes inactive concepts only where it says so; their status needs no review then. */
  takesInactive?(filter: Filter): boolean
  /** Absent when all codes are listed, or none. */
  readonly grammar?: CodeGrammar
}
