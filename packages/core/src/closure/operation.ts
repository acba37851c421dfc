import { engineOnDemand, TERMINOLOGY_NEEDS, type Operation } from '../operation/index.js'

/** Descriptor of `$closure` for the handler. */
export const closureOperation: Operation = {
  name: '$closure',
  types: [],
  levels: ['system'],
  methods: ['POST'],
  definition: 'http://hl7.org/fhir/OperationDefinition/ConceptMap-closure',
  answers: 'ConceptMap',
  needs: { ...TERMINOLOGY_NEEDS, keepsState: true },
  run: engineOnDemand(async () => (await import('./run-operation.js')).runClosure),
}
