import type { CodeSystemProvider, ConceptSet, Filter, ImportedSystem } from 'fhir-ops/terminology'
import { testedSet } from 'fhir-ops/internal/terminology'
import { listedSystem, withValue } from './listed-system.js'

/** The url of RxNorm. */
export const RXNORM = 'http://www.nlm.nih.gov/research/umls/rxnorm'

/**
 * RxNorm, for `codeSystems` of a context: the versions imported into its `concepts`, with RxNorm's filters.
 *
 * @see https://hl7.org/fhir/R4/rxnorm.html
 */
export function rxnorm(): ImportedSystem {
  return listedSystem({ url: RXNORM, name: 'RxNorm', filter: rxnormFilter })
}

/** Prefix of target concepts of relationships in filters. */
const CONCEPT = 'CUI:'

/**
 * Returns the concepts that meet one of RxNorm's own filters: `STY` also accepts the id of a semantic type (`T200`), `SAB` is `RXNORM` because names of
 * other sources are not imported, and the target concept of a relationship may be written as `CUI:1191`.
 *
 * @returns `undefined` for filters that every code system supports.
 */
function rxnormFilter(provider: CodeSystemProvider, { property, op, value }: Filter): ConceptSet | undefined {
  if (op !== '=') return undefined
  if (property === 'SAB' && value === 'RXNORM') return testedSet(provider, () => true)
  if (property === 'STY' && /^T[0-9]{3}$/.test(value)) return withValue(provider, 'TUI', value)
  if (!value.startsWith(CONCEPT) || !provider.header.properties.has(property)) return undefined
  return withValue(provider, property, value.slice(CONCEPT.length))
}
