import { engineOnDemand, TERMINOLOGY_NEEDS, type Operation } from '../operation/index.js'

/** Descriptor of `ValueSet/$expand` for the handler. */
export const expandOperation: Operation = {
  name: '$expand',
  types: ['ValueSet'],
  levels: ['type', 'instance'],
  methods: ['GET', 'POST'],
  definition: 'http://hl7.org/fhir/OperationDefinition/ValueSet-expand',
  answers: 'ValueSet',
  resourceParameter: 'valueSet',
  needs: TERMINOLOGY_NEEDS,
  cacheable: true,
  run: engineOnDemand(async () => (await import('./run-operation.js')).runExpand),
  write: engineOnDemand(async () => (await import('./run-operation.js')).writeExpand),
  stream: engineOnDemand(async () => (await import('./run-operation.js')).streamExpand),
}
