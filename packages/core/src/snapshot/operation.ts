import { engineOnDemand, type Operation } from '../operation/index.js'

/** The operation `StructureDefinition/$snapshot` for the handler. */
export const snapshotOperation: Operation = {
  name: '$snapshot',
  types: ['StructureDefinition'],
  levels: ['type', 'instance'],
  methods: ['GET', 'POST'],
  definition: 'http://hl7.org/fhir/OperationDefinition/StructureDefinition-snapshot',
  answers: 'StructureDefinition',
  resourceParameter: 'definition',
  needs: { text: 'StructureDefinition.r', anyOf: [{ action: 'read', type: 'StructureDefinition' }] },
  run: engineOnDemand(async () => (await import('./run-operation.js')).runSnapshot),
}
