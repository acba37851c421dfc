import type { CodeSystemProvider, ConceptSet, Filter, ImportedSystem } from 'fhir-ops/terminology'
import { OperationError } from 'fhir-ops/errors'
import { testedSet } from 'fhir-ops/internal/terminology'
import { listedSystem, valuesOf, withValue } from './listed-system.js'

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

/** Prefixes of target concepts and target names of relationships in filters. */
const CONCEPT = 'CUI:'
const NAME = 'AUI:'

/**
 * Returns the concepts that meet one of RxNorm's own filters, with `=` or `in`: `STY` also accepts the id of a semantic type (`T200`), `SAB` is `RXNORM`
 * because names of other sources are not imported, and the target concept of a relationship may be written as `CUI:1191`.
 *
 * @returns `undefined` for filters that every code system supports.
 * @throws {OperationError} `not-supported` for a relationship to a name (`AUI:5`), since only those between concepts are imported.
 */
function rxnormFilter(provider: CodeSystemProvider, { property, op, value }: Filter): ConceptSet | undefined {
  if (op !== '=' && op !== 'in') return undefined
  const values = valuesOf(op, value)
  if (property === 'SAB') return values.includes('RXNORM') ? testedSet(provider, () => true) : undefined
  if (values.some((one) => one.startsWith(NAME)))
    throw new OperationError('not-supported', `Names (AUI:) of RxNorm are not imported, so a filter by ${property} cannot ask for one.`)
  const own = values.map((one) => ownValue(property, one))
  if (!provider.header.properties.has(property) || own.every((one) => one === undefined)) return undefined
  const sets = values.map((one, i) => withValue(provider, ...(own[i] ?? [property, one])))
  return testedSet(provider, (concept) => sets.some((set) => set.has(concept)))
}

/** Returns the property and the value that a filter value of RxNorm means; `undefined` if these are the ones that the filter states. */
function ownValue(property: string, value: string): [property: string, value: string] | undefined {
  if (property === 'STY' && /^T[0-9]{3}$/.test(value)) return ['TUI', value]
  return value.startsWith(CONCEPT) ? [property, value.slice(CONCEPT.length)] : undefined
}
