import type { Explained } from '../context/index.js'
import type { JsonObject } from '../json/index.js'
import type { ConceptText, ValueSetDefinition } from '../terminology/index.js'

/** A property of a code in an expansion: `value` is the name of the `value[x]` and what it holds. */
export interface EntryProperty {
  readonly code: string
  readonly uri?: string
  readonly value: readonly [string, unknown]
}

/** One code of an expansion. */
export interface ExpansionEntry {
  readonly system: string
  /** Only where the value set uses several versions of the system. */
  readonly version?: string
  readonly code: string
  readonly display?: string
  readonly abstract: boolean
  readonly inactive: boolean
  readonly designations: readonly ConceptText[]
  readonly properties: readonly EntryProperty[]
  readonly extensions: readonly JsonObject[]
  /** The codes below it, when the expansion is nested. */
  readonly contains: readonly ExpansionEntry[]
}

/** A parameter of an expansion, echoed or reported. */
export interface ExpansionParameter {
  readonly name: string
  readonly type: 'Boolean' | 'Code' | 'Integer' | 'String' | 'Uri'
  readonly value: string | number | boolean
}

/** The codes of a value set, or a page of them. */
export interface Expansion extends Explained {
  readonly valueSet: ValueSetDefinition
  /** Number of all matching codes, on all pages and levels; absent where they cannot be counted. */
  readonly total?: number
  readonly offset: number
  readonly parameters: readonly ExpansionParameter[]
  readonly contains: readonly ExpansionEntry[]
  /** Why more codes may exist than can be given, `undefined` where the definition says so itself; empty when none can. */
  readonly unclosed: readonly (string | undefined)[]
  /** Properties of the entries, or asked for: code and uri, each once. */
  readonly properties: readonly { readonly code: string; readonly uri?: string }[]
}
