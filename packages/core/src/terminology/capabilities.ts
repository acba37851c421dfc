import type { JsonObject } from '../json/index.js'
import { checkOptions, inputShape, listOf, needed, TEXT, type InputShape } from '../input/index.js'

/** Options of `terminologyCapabilities`. */
export interface CapabilitiesOptions {
  /** Canonical url of the resource. */
  readonly url: string
  readonly version: string
  readonly name: string
  readonly title: string
  /** Date of the release, `YYYY-MM-DD`. */
  readonly date: string
  /** Base address of the operations. */
  readonly base: string
  /** Urls of the supported code systems. Default: none. */
  readonly codeSystems?: readonly string[]
}

/** Inputs of `$expand`; those that R4 does not define come from the terminology ecosystem. */
const EXPANSION_PARAMETERS = [
  '_explain',
  '_tolerateTypo',
  'activeOnly',
  'check-system-version',
  'check-valueset-version',
  'context',
  'contextDirection',
  'count',
  'default-valueset-version',
  'designation',
  'displayLanguage',
  'exclude-system',
  'excludeNested',
  'excludeNotForUI',
  'excludePostCoordinated',
  'filter',
  'force-system-version',
  'force-valueset-version',
  'includeDefinition',
  'includeDesignations',
  'limit',
  'offset',
  'property',
  'system-version',
  'tx-resource',
  'url',
  'useSupplement',
  'valueSet',
  'valueSetVersion',
] as const

const SHAPE: InputShape = inputShape<CapabilitiesOptions>({
  url: needed(TEXT),
  version: needed(TEXT),
  name: needed(TEXT),
  title: needed(TEXT),
  date: needed(TEXT),
  base: needed(TEXT),
  codeSystems: listOf(TEXT),
})

/**
 * Creates the TerminologyCapabilities of the terminology operations, the answer to `metadata?mode=terminology`.
 *
 * @see https://hl7.org/fhir/R4/terminologycapabilities.html
 */
export function terminologyCapabilities(given: CapabilitiesOptions): JsonObject {
  checkOptions('terminologyCapabilities', SHAPE, given)
  const { base, codeSystems = [], ...options } = given
  return {
    resourceType: 'TerminologyCapabilities',
    ...options,
    status: 'active',
    kind: 'instance',
    software: { name: options.title, version: options.version },
    implementation: { description: options.title, url: base },
    ...(codeSystems.length > 0 && { codeSystem: codeSystems.map((uri) => ({ uri })) }),
    expansion: {
      hierarchical: true,
      paging: true,
      incomplete: false,
      parameter: EXPANSION_PARAMETERS.map((name) => ({ name })),
      textFilter: 'Every word of the filter must start a word of the display, a designation or the code; case and accents do not matter.',
    },
    codeSearch: 'all',
    validateCode: { translations: true },
    translation: { needsMap: false },
    closure: { translation: false },
  }
}
