import type { JsonObject } from '../../json/index.js'
import type { Bitmap } from '../bitmap.js'
import type { ConceptText } from '../concept-texts.js'
import type { ConceptSet } from '../filter/concept-set.js'
import type { Filter } from '../filter/operator.js'
import type { ValueSetDefinition } from '../value-set/value-set.js'
import type { FilterWord } from '../words.js'
import type { Work } from '../../work/index.js'
import type { ConceptStatus } from './concept-status.js'
import type { DisplayOrder } from './display-order.js'
import type { Hierarchy } from './hierarchy.js'

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
  /** Declared properties: code to uri. */
  readonly properties: ReadonlyMap<string, string | undefined>
  /** Language tag of displays where it is narrower than `language`: `en-US`. */
  readonly dialect?: string
  /** True when properties are concepts of the system itself; lookups then tell all of them, with displays. Default false. */
  readonly propertiesAreConcepts?: boolean
  /** Properties that are told only when they are asked for by name. */
  readonly namedProperties?: ReadonlySet<string>
  /** Properties that the system defines and that cannot be told: asking for one is refused. */
  readonly missingProperties?: ReadonlySet<string>
}

/** Where something is said about a concept: the code system itself or a supplement of it. */
export interface ConceptSource {
  /** In the form of `CodeSystem.concept`. */
  readonly concept: JsonObject
  /** Canonical of the supplement; absent for the code system. */
  readonly supplement?: string
}

/** Codes that are made by a grammar, beside those that are listed. */
export interface CodeGrammar {
  /** True for a concept that is not listed. */
  isMade(concept: number): boolean
  /** True once it was asked for a code that is not listed; the provider remembers such codes, so it is for one request only then. */
  isUsed(): boolean
  /** True when an include with these filters takes made codes. */
  admits(filters: readonly Filter[]): boolean
  /** What is told about a made code that is right. */
  readonly note: string
  /** The value set that stands for the system where its codes are to be listed. They cannot be counted then. */
  readonly common?: ValueSetDefinition
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
