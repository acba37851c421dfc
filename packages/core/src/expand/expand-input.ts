import type { ExplainOption } from '../context/index.js'
import { COUNT, FLAG, inputShape, listOf, OBJECT, TEXT, type InputShape } from '../input/index.js'
import type { AskedLanguages, ValueSetName, VersionRules } from '../terminology/index.js'

/** What `expand` takes: the value set by `url` or `valueSet`, and options. */
export type ExpandInput = ValueSetName & ExpandOptions

/** How a value set is expanded. */
export interface ExpandOptions extends AskedLanguages, ExplainOption {
  /** Keep only codes with these words; see `filterWords`. Blanks do not filter. */
  readonly filter?: string | undefined
  /** Where nothing has the words as they are, take one of them for one with a typing error. Default false. */
  readonly tolerateTypo?: boolean | undefined
  /** How many codes of the flat list to pass over. Default 0. */
  readonly offset?: number | undefined
  /** How many codes to give. All when absent. */
  readonly count?: number | undefined
  readonly activeOnly?: boolean | undefined
  /** Without abstract codes, which only group others. */
  readonly excludeNotForUI?: boolean | undefined
  /** Without codes that a grammar makes of others. They are never listed; an expansion over SNOMED CT does not say then that it is unclosed for their sake. */
  readonly excludePostCoordinated?: boolean | undefined
  /** Never nest codes. */
  readonly excludeNested?: boolean | undefined
  readonly includeDesignations?: boolean | undefined
  readonly includeDefinition?: boolean | undefined
  /** Keep designations of these languages or uses only, each as `system|code`; includes designations. */
  readonly designations?: readonly string[] | undefined
  /** Properties to give with each code; `definition` counts as one. */
  readonly properties?: readonly string[] | undefined
  /** Canonicals of code systems of which no codes are listed; one without version stands for every version. */
  readonly excludeSystems?: readonly string[] | undefined
  /** Canonicals of supplements that must be used. */
  readonly useSupplement?: readonly string[] | undefined
  readonly rules?: VersionRules | undefined
}

/** What `expand` takes. */
export const EXPAND_INPUT: InputShape = inputShape<ExpandInput>({
  valueSet: OBJECT,
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
  rules: OBJECT,
})
