import type { ExplainOption } from '../context/index.js'
import { FLAG, inputShape, listOf, needed, OBJECT, TEXT, type InputShape } from '../input/index.js'
import type { AskedLanguages, VersionRules } from '../terminology/index.js'

/** Which concept to look up, and what to tell about it. */
export interface LookupInput extends AskedLanguages, ExplainOption {
  /** Url of the code system. */
  readonly system: string
  readonly version?: string | undefined
  readonly code: string
  /** Properties to tell, `*` for all. Without any, only what every concept has. */
  readonly properties?: readonly string[] | undefined
  /** Canonicals of supplements that must be used. */
  readonly useSupplement?: readonly string[] | undefined
  readonly rules?: VersionRules | undefined
  /** The CodeSystem itself, used in place of a stored one of the same url and version. */
  readonly codeSystem?: object | undefined
}

/** What `lookup` takes. */
export const LOOKUP_INPUT: InputShape = inputShape<LookupInput>({
  system: needed(TEXT),
  version: TEXT,
  code: needed(TEXT),
  properties: listOf(TEXT),
  useSupplement: listOf(TEXT),
  rules: OBJECT,
  codeSystem: OBJECT,
  displayLanguage: TEXT,
  acceptLanguage: TEXT,
  explain: FLAG,
})
