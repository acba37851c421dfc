import type { Explained } from '../context/index.js'
import type { ConceptText } from '../terminology/index.js'

/** A property of a concept. */
export interface LookedUpProperty {
  readonly code: string
  /** Name of the `value[x]` and what it holds. */
  readonly value: readonly [string, unknown]
  /** Display of the concept that the value is, such as a `parent` or `child`. */
  readonly description?: string
  /** Display of the concept that the property itself is. */
  readonly codeDisplay?: string
}

/** What is known about a concept. */
export interface LookedUpConcept extends Explained {
  readonly system: string
  readonly version?: string
  /** Name of the code system. */
  readonly name: string
  /** As the code system writes it. */
  readonly code: string
  readonly display?: string
  readonly definition?: string
  readonly abstract: boolean
  /** All texts but the display shown; the code system's own display among them when it has a language. */
  readonly designations: readonly ConceptText[]
  readonly properties: readonly LookedUpProperty[]
  /** Canonicals of the supplements that were used. */
  readonly supplements: readonly string[]
}
