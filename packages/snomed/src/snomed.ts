import type { ImportedSystem } from 'fhir-ops/terminology'
import { pickSnomedVersion, SNOMED } from './sctid.js'
import { implicitCanonical, implicitResource } from './implicit.js'
import { SNOMED_FORMAT } from './release/header.js'
import { eclProblem, openSnomed } from './open-snomed.js'
import { snomedProvider } from './provider/snomed-provider.js'

/**
 * SNOMED CT, for `codeSystems` of a context: editions and versions that were imported to its `concepts`, with the Expression Constraint Language,
 * post-coordinated expressions, and the implicit value sets and concept maps.
 *
 * @see https://hl7.org/fhir/R4/snomedct.html
 */
export function snomed(): ImportedSystem {
  return {
    url: SNOMED,
    name: 'SNOMED CT',
    format: SNOMED_FORMAT,
    bytesPerConcept: 200,
    open(sections, header) {
      const system = openSnomed(sections, header)
      return {
        provider: () => snomedProvider(system),
        implicitResource: (type, canonical) => implicitResource(system.index, type, canonical),
      }
    },
    pickVersion: pickSnomedVersion,
    implicitVersion: implicitCanonical,
    filterProblem: ({ property, op, value }) => (property === 'constraint' && op === '=' ? eclProblem(value) : undefined),
  }
}
