import type { ExplainOption } from '../context/index.js'
import { COUNT, FLAG, inputShape, listOf, resourceOf, TEXT, type InputShape } from '../input/index.js'
import { VERSION_RULES, type AskedLanguages, type ValueSetName, type VersionRules } from '../terminology/index.js'

/** Input of `expand`: the value set, by `url` or `valueSet`, and options. */
export type ExpandInput = ValueSetName & ExpandOptions

/** Options of an expansion. */
export interface ExpandOptions extends AskedLanguages, ExplainOption {
  /** Keep only codes with these words in their texts; see `filterWords`. A blank filter keeps all. */
  readonly filter?: string | undefined
  /** True: when the filter finds nothing, search again with one typing error corrected. Default false. */
  readonly tolerateTypo?: boolean | undefined
  /** Number of codes of the flat list to skip. Default 0. */
  readonly offset?: number | undefined
  /** Maximum number of codes to return. Default: all. */
  readonly count?: number | undefined
  /** True: exclude inactive codes. Default false. */
  readonly activeOnly?: boolean | undefined
  /** True: exclude abstract codes, which only group others. Default false. */
  readonly excludeNotForUI?: boolean | undefined
  /**
   * True: exclude post-coordinated codes, which a grammar forms from others. They are never listed, but with this option an expansion over SNOMED CT is
   * not marked as unclosed because of them. Default false.
   */
  readonly excludePostCoordinated?: boolean | undefined
  /** True: always return a flat list. Default false. */
  readonly excludeNested?: boolean | undefined
  /** True: include designations. Default false, unless `designations` names some. */
  readonly includeDesignations?: boolean | undefined
  /** True: `toValueSet` also writes `compose` and `contained` of the value set. Default false. */
  readonly includeDefinition?: boolean | undefined
  /** Include only designations with these languages or uses, each as `system|code`. */
  readonly designations?: readonly string[] | undefined
  /** Properties to return with each code; `definition`, `parent` and `child` are allowed too. */
  readonly properties?: readonly string[] | undefined
  /** Canonicals of code systems whose codes are excluded; without a version, all versions. */
  readonly excludeSystems?: readonly string[] | undefined
  /** Canonicals of supplements that must be used. */
  readonly useSupplement?: readonly string[] | undefined
  /** Rules that choose versions of code systems and value sets. */
  readonly rules?: VersionRules | undefined
}

/** Shape by which `expand` checks its input. */
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
