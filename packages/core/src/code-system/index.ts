import type { Bitmap } from '../bits/index.js'
import type { JsonObject } from '../json/index.js'
import type { SystemSections } from '../storage/index.js'
import type { Work } from '../work/index.js'

/** A code system of a context besides CodeSystem resources: computed by a rule, or opened from imported releases. */
export type CodeSystem = ComputedSystem | ImportedSystem

/**
 * A code system whose codes follow a rule instead of being listed: units, language tags, media types. A CodeSystem resource or an imported system
 * with the same url takes precedence. It must always return the same result for a code, because results are kept.
 */
export interface ComputedSystem {
  readonly url: string
  readonly version?: string
  readonly name: string
  /** Language of displays; unknown when absent. */
  readonly language?: string
  /** False when `find` ignores case. */
  readonly caseSensitive: boolean
  /**
   * Canonicals of value sets that list the codes in common use. The first known value set represents the system where its codes have to be listed;
   * when none is known, listing is refused.
   */
  readonly common?: readonly string[]
  /** Returns the concept of a code in the form of `CodeSystem.concept`, with `code` in the system's spelling; `undefined` for text that is not a code. */
  find(code: string): JsonObject | undefined
  /** Explains, for people, why a text is not a code; `undefined` when there is no specific reason. */
  whyNot?(code: string): string | undefined
  /** Returns the test for a filter that this system defines; `undefined` for a filter that every system has. */
  filter?(property: string, op: string, value: string): ((code: string) => boolean) | undefined
  /** Returns the implicit value set of a canonical that the system defines; its `url` is the canonical. `undefined` for any other canonical. */
  implicitValueSet?(canonical: string): JsonObject | undefined
}

/** Types of resources that a code system can define by their canonicals alone. */
export type ImplicitType = 'ValueSet' | 'ConceptMap'

/**
 * A code system whose releases are imported into a `ConceptStore`: opens releases, picks versions, and recognises the implicit value sets and concept
 * maps that the system defines. `snomed()` of `@fhir-ops/snomed` returns one.
 */
export interface ImportedSystem {
  readonly url: string
  readonly name: string
  /** Layout of the releases that it can open: `format` of `StoredSystem`. */
  readonly format: string
  /** Memory of an open release per concept, in bytes; the cache of the context uses this estimate. */
  readonly bytesPerConcept: number
  /**
   * Opens a release. The result is shared by all requests and kept as long as the cache has room.
   *
   * @param header `header` of the `StoredSystem`.
   * @throws {OperationError} `storage-damaged` when the header cannot be read.
   */
  open(sections: SystemSections, header: string): OpenRelease
  /**
   * Picks one of the imported versions.
   *
   * @param asked The version as the caller wrote it, perhaps with wildcards; the default version is picked when absent.
   */
  pickVersion(versions: readonly string[], asked: string | undefined): string | undefined
  /**
   * Recognises the canonical of an implicit value set or concept map.
   *
   * @returns The version that the canonical names, if any; `undefined` for any other canonical.
   */
  implicitVersion?(type: ImplicitType, canonical: string): { readonly version?: string } | undefined
  /**
   * Checks what can be checked of a filter without any release: that its value is valid in the language that the property takes.
   *
   * @returns Why the value is not valid, for people; `undefined` when it is valid, or when a release is needed to tell.
   */
  filterProblem?(filter: Filter): string | undefined
}

/** An open release of an imported code system. */
export interface OpenRelease {
  /** Builds what every provider needs, in steps, so that other work can run in between. Absent where `open` builds it. */
  readonly build?: () => Work<unknown>
  /** Returns the provider for a request. Builds synchronously what `build` has not built. */
  readonly provider: () => CodeSystemProvider
  /**
   * Returns the implicit resource of a canonical that `implicitVersion` recognised. Its `url` is the canonical.
   *
   * @returns `undefined` when the release has no such content.
   */
  readonly implicitResource?: (type: ImplicitType, canonical: string) => JsonObject | undefined
}

/** True for a code system whose releases are imported. */
export function isImported(system: CodeSystem): system is ImportedSystem {
  return 'open' in system
}

/** Metadata of a code system. */
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
  /** False when more codes exist than are known (content `fragment` or `example`). */
  readonly complete: boolean
  readonly caseSensitive: boolean
  readonly versionNeeded: boolean
  /** False when a child in the hierarchy is not necessarily a kind of its parent. Default true. */
  readonly subsumes?: boolean
  /** Types of declared properties (`integer`, `dateTime` ...) by code, where they are known. */
  readonly propertyTypes?: ReadonlyMap<string, string>
  /** Declared properties: code to uri. */
  readonly properties: ReadonlyMap<string, string | undefined>
  /** Language tag of displays, where more specific than `language`: `en-US`. */
  readonly dialect?: string
  /** True when properties are concepts of the system itself; lookups then return all of them, with displays. Default false. */
  readonly propertiesAreConcepts?: boolean
  /** Properties that are returned only when they are requested by name. */
  readonly namedProperties?: ReadonlySet<string>
  /** Properties that the system defines but that cannot be returned; requests for them are refused. */
  readonly missingProperties?: ReadonlySet<string> | undefined
}

/** A definition of a concept: in the code system itself or in a supplement. */
export interface ConceptSource {
  /** In the form of `CodeSystem.concept`. */
  readonly concept: JsonObject
  /** Canonical of the supplement; absent for the code system. */
  readonly supplement?: string
  /** Language of the resource, which its designations have that state none. */
  readonly language?: string
}

/** Status of a concept. */
export interface ConceptStatus {
  readonly inactive: boolean
  /** True for a concept that only groups others and should not be selected. */
  readonly abstract: boolean
  /** `retired`, `deprecated` ...; absent when the concept states none. */
  readonly status?: string
}

/** A display or designation of a concept. */
export interface ConceptText {
  readonly value: string
  readonly language?: string
  /** True for a designation that states no language and so has that of its resource; answers do not repeat it. */
  readonly ofResource?: true
  /** The Coding in `use`. */
  readonly use?: JsonObject
  /** True for the display of the code system, or for the display of the value set that replaces it. */
  readonly main: boolean
  /** `withdrawn`, `deprecated` or `inactive` for a text that should no longer be used. */
  readonly outdated?: string
  /** True for a designation of the value set, which is preferred to an equal one of the code system. */
  readonly listed?: true
  /** Tags of the dialects (`en-US`) in which this is the preferred text. */
  readonly dialects?: readonly string[]
  /** True for a text that is acceptable but not preferred; expansions include it only when designations are requested by name. */
  readonly minor?: boolean
  /** Canonical of the supplement that the text comes from. */
  readonly supplement?: string
  /** True for an unambiguous name, such as the fully specified name of SNOMED CT; lookups list it first. */
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

/** A set of concepts of one code system. `has` does not need to list them. */
export interface ConceptSet {
  readonly has: (concept: number) => boolean
  /** `has` in steps, for sets where one question may take long. */
  readonly asked?: (concept: number) => Work<boolean>
  /** @throws {OperationError} `not-supported` when the system's codes cannot be listed. */
  readonly all: () => Work<Bitmap>
}

/** The parent-child relations of concepts that are numbered depth first, so that most sets of descendants are a range. */
export interface Hierarchy {
  /** False when no concept has a parent. */
  readonly nested: boolean
  parents(concept: number): readonly number[]
  children(concept: number): readonly number[]
  /** True if the concept is the ancestor itself or below it, through any of its parents. */
  isWithin(concept: number, ancestor: number): boolean
  /** Returns the concept and all its descendants. */
  within(ancestor: number): Bitmap
  /** Returns the concept and all its ancestors. */
  above(concept: number): Bitmap
}

/** A part of a text filter, which must appear literally at the start of a word in a text of the concept. */
export interface FilterWord {
  /** The text, folded. */
  readonly text: string
  /** First word of `text`, by which candidates are found. */
  readonly start: string
  /** True when `text` is more than the start of one word. */
  readonly verbatim: boolean
}

/**
 * The concepts whose displays have a word with a given beginning, each once, ordered by the position of the first such word, the length of the
 * display and the number of the concept.
 */
export interface PlaceOrder {
  /** Returns the concept at an index; `undefined` after the last. Everything up to it is computed once. */
  at(i: number): number | undefined
}

/** The sort orders of matches of a text filter. Texts are folded. */
export interface DisplayOrder {
  /** Returns the display; empty when the concept has none. */
  display(concept: number): string
  length(concept: number): number
  /** False when some concept has no display. */
  readonly complete: boolean
  withCode(code: string): Iterable<number>
  startingWith(text: string): Uint32Array
  /** Returns the concepts whose display has a word with this beginning. */
  places(start: string): PlaceOrder
  /** Returns a function from a concept to the position of the first word in its display with this beginning; `FAR` when there is none. */
  firstPlaces(start: string): (concept: number) => number
}

/** Sets of concepts of a code system; each is built at first use and kept. */
export interface ConceptIndex {
  readonly size: number
  all(): Bitmap
  inactive(): Bitmap
  /** Builds what `inactive` needs in steps, so that other work can run in between. Absent where that takes no time. */
  buildInactive?(): Work<unknown>
  /** Returns concepts by value of a property, as text. */
  values(property: string): ReadonlyMap<string, Bitmap>
  /** As `buildInactive`, for `values`. */
  buildValues?(property: string): Work<unknown>
  /** As `buildInactive`, for `withWord`. */
  buildTexts?(): Work<unknown>
  withWord(word: FilterWord): Bitmap
  /** Returns the words of texts with this beginning, folded; a word may occur more than once. */
  words(start: string): Iterable<string>
  /** Returns the order of matches by display; where there is none, matches are compared one by one. */
  displayOrder?(): DisplayOrder | undefined
}

/** A value set that represents a system whose codes cannot be listed. */
export interface StandInValueSet {
  readonly url?: string
  /** `url|version`; `undefined` without url. */
  readonly canonical?: string
  readonly resource: JsonObject
}

/** The codes that a grammar forms, besides the listed ones. */
export interface CodeGrammar {
  /** True for a concept that the grammar formed, which is not listed. */
  isMade(concept: number): boolean
  /** True once a code that is not listed was looked up. The provider remembers such codes, so it then serves a single request. */
  isUsed(): boolean
  /** True if an include with these filters accepts codes that the grammar forms. */
  admits(filters: readonly Filter[]): boolean
  /**
   * True if unlisted codes may satisfy the filters of an include that does not accept such codes. Its expansion is then marked as unclosed, unless the
   * request excludes post-coordinated codes. When absent, never.
   */
  mayExtend?(filters: readonly Filter[]): boolean
  /** The note that is reported for a valid code that the grammar forms. */
  readonly note: string
  /** The value set that represents the system where its codes have to be listed. Codes cannot be counted then. */
  readonly common?: StandInValueSet
  /** Explains why a code is not valid in the grammar; `undefined` when it is, or when it does not look like a code of the grammar. */
  whyNot(code: string): string | undefined
}

/**
 * The concepts of one version of a code system.
 *
 * Concepts are numbers, depth first in the order of definition. A system whose codes only a grammar forms assigns numbers as codes are found, and has no
 * `index`.
 */
export interface CodeSystemProvider {
  readonly header: SystemHeader
  /** Canonicals of the supplements in use. */
  readonly supplements: readonly string[]
  /** Finds the concept with this code, by the system's rule for upper and lower case. */
  find(code: string): number | undefined
  code(concept: number): string
  /** Returns the definitions of a concept: never empty, the code system first. */
  sources(concept: number): readonly ConceptSource[]
  status(concept: number): ConceptStatus
  readonly hierarchy: Hierarchy
  /** Absent when the codes cannot be listed. */
  readonly index?: ConceptIndex
  /** Returns all texts except the display; absent where the sources state them. */
  designations?(concept: number): readonly ConceptText[]
  /**
   * Returns the concepts that satisfy a filter that this system defines; `undefined` for a filter that every system has.
   *
   * @param within This provider, perhaps with supplements added.
   */
  filter?(filter: Filter, within: CodeSystemProvider): ConceptSet | undefined
  /** True for a filter that includes inactive concepts only if it says so; their status then needs no further check. */
  takesInactive?(filter: Filter): boolean
  /** Absent when all codes are listed, or when none are. */
  readonly grammar?: CodeGrammar
}
