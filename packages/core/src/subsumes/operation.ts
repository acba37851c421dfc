import { engineOnDemand, TERMINOLOGY_NEEDS, type Operation } from '../operation/index.js'

/** Descriptor of `CodeSystem/$subsumes` for the handler. */
export const subsumesOperation: Operation = {
  name: '$subsumes',
  types: ['CodeSystem'],
  levels: ['type', 'instance'],
  methods: ['GET', 'POST'],
  definition: 'http://hl7.org/fhir/OperationDefinition/CodeSystem-subsumes',
  answers: 'Parameters',
  resourceParameter: 'codeSystem',
  needs: TERMINOLOGY_NEEDS,
  cacheable: true,
  run: engineOnDemand(async () => (await import('./run-operation.js')).runSubsumes),
}
