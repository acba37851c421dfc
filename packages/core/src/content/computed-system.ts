import type { JsonObject } from '../json/index.js'

/**
 * A code system whose codes are made by a rule instead of being listed: units, language tags, media types. A CodeSystem resource of the same
 * url, or an imported system, goes before it.
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
   * Canonicals of value sets that list the codes which are in common use. Those of the first that is known stand for the system where its
   * codes are to be listed; such a list is refused when there is none.
   */
  readonly common?: readonly string[]
  /** The concept of a code in the form of `CodeSystem.concept`, its `code` as the system spells it; `undefined` for a code that is none. */
  find(code: string): JsonObject | undefined
  /** Why a code is none, for people; `undefined` when there is no more to say than that. */
  whyNot?(code: string): string | undefined
  /** The test of a filter of the system's own; `undefined` for a filter that every system has. */
  filter?(property: string, op: string, value: string): ((code: string) => boolean) | undefined
}
