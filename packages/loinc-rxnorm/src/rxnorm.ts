import type { CodeSystemProvider, ConceptSet, Filter, ImportedSystem } from 'fhir-ops/terminology'
import { testedSet } from 'fhir-ops/internal/terminology'
import { listedSystem, withValue } from './listed-system.js'

/** The url of RxNorm. */
export const RXNORM = 'http://www.nlm.nih.gov/research/umls/rxnorm'

/**
 * RxNorm, for `codeSystems` of a context: versions that were imported to its `concepts`, with the filters of RxNorm.
 *
 * @see https://hl7.org/fhir/R4/rxnorm.html
 */
export function rxnorm(): ImportedSystem {
  return listedSystem({ url: RXNORM, name: 'RxNorm', filter: rxnormFilter })
}

/** How filters write a concept that a relationship leads to. */
const CONCEPT = 'CUI:'

/**
 * The concepts for which one of RxNorm's own filters holds: `STY` takes the id of a semantic type (`T200`) too, `SAB` is `RXNORM`, as names of
 * other sources are not imported, and the concept that a relationship leads to may be written `CUI:1191`.
 *
 * @returns `undefined` for a filter that every code system has.
 */
function rxnormFilter(provider: CodeSystemProvider, { property, op, value }: Filter): ConceptSet | undefined {
  if (op !== '=') return undefined
  if (property === 'SAB' && value === 'RXNORM') return testedSet(provider, () => true)
  if (property === 'STY' && /^T[0-9]{3}$/.test(value)) return withValue(provider, 'TUI', value)
  if (!value.startsWith(CONCEPT) || !provider.header.properties.has(property)) return undefined
  return withValue(provider, property, value.slice(CONCEPT.length))
}
