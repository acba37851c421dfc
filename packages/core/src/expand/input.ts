import type { ExplainOption } from '../context/index.js'
import { COUNT, FLAG, inputShape, listOf, resourceOf, TEXT, type InputShape } from '../input/index.js'
import { VERSION_RULES, type AskedLanguages, type ValueSetName, type VersionRules } from '../terminology/index.js'

/** What `expand` takes: the value set by `url` or `valueSet`, and options. */
export type ExpandInput = ValueSetName & ExpandOptions

/** How a value set is expanded. */
export interface ExpandOptions extends AskedLanguages, ExplainOption {
  /** Keep only codes with these words; see `filterWords`. Blanks do not filter. */
  readonly filter?: string | undefined
  /** True: a filter that finds nothing may have one typing error. Default false. */
  readonly tolerateTypo?: boolean | undefined
  /** How many codes of the flat list to skip. Default 0. */
  readonly offset?: number | undefined
  /** How many codes to return at most. Default: all. */
  readonly count?: number | undefined
  /** True: without inactive codes. Default false. */
  readonly activeOnly?: boolean | undefined
  /** True: without abstract codes, which only group others. Default false. */
  readonly excludeNotForUI?: boolean | undefined
  /**
   * True: without codes that a grammar makes of others. They are never listed; an expansion over SNOMED CT then does not say that it is unclosed
   * because of them. Default false.
   */
  readonly excludePostCoordinated?: boolean | undefined
  /** True: a flat list always. Default false. */
  readonly excludeNested?: boolean | undefined
  /** True: with designations. Default false, unless `designations` names some. */
  readonly includeDesignations?: boolean | undefined
  /** True: `toValueSet` writes the `compose` of the value set, too, and what it contains. Default false. */
  readonly includeDefinition?: boolean | undefined
  /** Only designations of these languages or uses, each as `system|code`. */
  readonly designations?: readonly string[] | undefined
  /** Properties to return with each code; `definition`, `parent` and `child` count as such. */
  readonly properties?: readonly string[] | undefined
  /** Canonicals of code systems whose codes are left out; one without version means every version. */
  readonly excludeSystems?: readonly string[] | undefined
  /** Canonicals of supplements that must be used. */
  readonly useSupplement?: readonly string[] | undefined
  /** Rules that choose versions of code systems and value sets. */
  readonly rules?: VersionRules | undefined
}

/** What `expand` checks its input by. */
export const EXPAND_INPUT: InputShape = inputShape<ExpandInput>({
  valueSet: resourceOf('ValueSet'),
  url: TEXT,
  valueSetVersion: TEXT,
  displayLanguage: TEXT,
  acceptLanguage: TEXT,
  explain: FLAG,
  filter: TEXT,
  tolerateTypo: FLAG,
  offset: COUNT,
  count: COUNT,
  activeOnly: FLAG,
  excludeNotForUI: FLAG,
  excludePostCoordinated: FLAG,
  excludeNested: FLAG,
  includeDesignations: FLAG,
  includeDefinition: FLAG,
  designations: listOf(TEXT),
  properties: listOf(TEXT),
  excludeSystems: listOf(TEXT),
  useSupplement: listOf(TEXT),
  rules: VERSION_RULES,
})
