import { engineOnDemand, type Operation } from '../operation/index.js'

/** Descriptor of `ConceptMap/$translate` and `ConceptMap/<id>/$translate` for the handler. */
export const translateOperation: Operation = {
  name: '$translate',
  types: ['ConceptMap'],
  levels: ['type', 'instance'],
  methods: ['GET', 'POST'],
  definition: 'http://hl7.org/fhir/OperationDefinition/ConceptMap-translate',
  answers: 'Parameters',
  resourceParameter: 'conceptMap',
  needs: { text: 'ConceptMap.r', anyOf: [{ action: 'read', type: 'ConceptMap' }] },
  cacheable: true,
  run: engineOnDemand(async () => (await import('./run-operation.js')).runTranslate),
}
