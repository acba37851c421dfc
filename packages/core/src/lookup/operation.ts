import { engineOnDemand, TERMINOLOGY_NEEDS, type Operation } from '../operation/index.js'

/** Descriptor of `CodeSystem/$lookup` for the handler. */
export const lookupOperation: Operation = {
  name: '$lookup',
  types: ['CodeSystem'],
  levels: ['type'],
  methods: ['GET', 'POST'],
  definition: 'http://hl7.org/fhir/OperationDefinition/CodeSystem-lookup',
  answers: 'Parameters',
  resourceParameter: 'codeSystem',
  needs: TERMINOLOGY_NEEDS,
  cacheable: true,
  run: engineOnDemand(async () => (await import('./run-operation.js')).runLookup),
}
