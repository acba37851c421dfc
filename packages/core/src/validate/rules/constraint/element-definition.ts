import { PENDING, rootNode, type FhirNode, type Pending } from '../../../fhirpath/index.js'
import { childrenOf, textOf } from '../../walk/children.js'
import type { Run } from '../../walk/run.js'

const TYPE_URL = 'http://hl7.org/fhir/StructureDefinition/'

/** The ElementDefinition by which FHIR's own types define a node; that of the type for a resource that is in nothing. */
export function elementDefinitionOf(run: Run, { parent, slot, type }: FhirNode): FhirNode | undefined | Pending {
  const owner = parent?.type.name ?? type.name
  const definition = run.facts.definition('StructureDefinition', TYPE_URL + (owner.split('.', 1)[0] ?? ''))
  if (definition === undefined || definition === PENDING) return definition
  const path = slot === undefined ? owner : `${owner}.${slot.name}${slot.isChoice ? '[x]' : ''}`
  const elements = childrenOf(run, rootNode(run.model, definition), 'snapshot').flatMap((snapshot) => childrenOf(run, snapshot, 'element'))
  return elements.find((element) => textOf(element, 'path') === path)
}
