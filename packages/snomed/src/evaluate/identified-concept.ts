import { EclError, type AlternateIdentifier } from '../ecl/index.js'
import { foldTerm } from 'fhir-ops/terminology'
import type { SnomedIndex } from '../release/snomed-index.js'

/** Identifier schemes by their alias. @see https://docs.snomed.org/implementation-guides/loinc-implementation-guide */
const SCHEMES: ReadonlyMap<string, string> = new Map([
  ['loinc', '30051010000102'],
  ['npu', '21003000106'],
])

/** The ordinal of the concept that a code of another scheme identifies. @throws {EclError} when the scheme or the code is not known. */
export function identifiedConcept(index: SnomedIndex, { scheme, code, at }: AlternateIdentifier): number {
  const meant = index.identifiers.schemes.filter((id) => isNamed(index, id, foldTerm(scheme)))
  if (meant.length === 0) throw new EclError(`The identifier scheme ${scheme} is not known`, at)
  const concept = meant.map((id) => index.ids.find(index.identifiers.find(id, code) ?? '')).find((found) => found !== undefined)
  if (concept === undefined) throw new EclError(`No concept has the identifier ${scheme}#${code}`, at)
  return concept
}

/** A scheme goes by its alias or by one of its names. */
function isNamed({ ids, descriptions }: SnomedIndex, scheme: string, alias: string): boolean {
  if (SCHEMES.get(alias) === scheme) return true
  const concept = ids.find(scheme)
  const [from, to] = concept === undefined ? [0, 0] : descriptions.rowsOf(concept)
  for (let row = from; row < to; row++) if (descriptions.isActive(row) && foldTerm(descriptions.term(row)) === alias) return true
  return false
}
