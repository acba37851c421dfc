import type { Operation } from '../operation/index.js'

/** `StructureDefinition/$snapshot` as the handler mounts it. The engine is loaded at the first call. */
export const snapshotOperation: Operation = {
  name: '$snapshot',
  types: ['StructureDefinition'],
  levels: ['type', 'instance'],
  methods: ['GET', 'POST'],
  definition: 'http://hl7.org/fhir/OperationDefinition/StructureDefinition-snapshot',
  needs: { text: 'StructureDefinition.r', anyOf: [{ action: 'read', type: 'StructureDefinition' }] },
  run: async (ctx, request) => (await import('./answer-request.js')).answerRequest(ctx, request),
}
