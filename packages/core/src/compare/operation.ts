import { engineOnDemand, TERMINOLOGY_NEEDS, type Operation } from '../operation/index.js'

/** Descriptor of `ValueSet/$compare`, an operation of the terminology ecosystem, for the handler. */
export const compareOperation: Operation = {
  name: '$compare',
  types: ['ValueSet'],
  levels: ['type', 'instance'],
  methods: ['GET', 'POST'],
  definition: 'http://hl7.org/fhir/uv/tx-ecosystem/OperationDefinition/ValueSet-compare',
  answers: 'Parameters',
  needs: TERMINOLOGY_NEEDS,
  run: engineOnDemand(async () => (await import('./run-operation.js')).runCompare),
}
