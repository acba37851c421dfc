import { PENDING, type Pending } from '../../../fhirpath/index.js'
import type { Run } from '../../run/run.js'

/** The types of resources that canonicals lead to. */
const CANONICAL_TYPES = [
  'StructureDefinition',
  'CodeSystem',
  'ValueSet',
  'ConceptMap',
  'Questionnaire',
  'SearchParameter',
  'OperationDefinition',
  'CapabilityStatement',
  'ImplementationGuide',
  'Library',
  'Measure',
  'PlanDefinition',
  'ActivityDefinition',
  'StructureMap',
  'NamingSystem',
  'CompartmentDefinition',
  'MessageDefinition',
  'GraphDefinition',
  'EventDefinition',
  'ResearchDefinition',
  'ChargeItemDefinition',
  'TerminologyCapabilities',
]

/** The type of the definition that a canonical leads to where another was wanted; `undefined` where it leads to none. */
export function otherKindOf(run: Run, canonical: string, wanted: string): string | undefined | Pending {
  let isOpen = false
  for (const type of CANONICAL_TYPES) {
    const found = type === wanted ? undefined : run.definitions.definition(type, canonical)
    if (found === PENDING) isOpen = true
    else if (found !== undefined) return type
  }
  return isOpen ? PENDING : undefined
}
