import { engineOnDemand, type Operation } from '../operation/index.js'
import { OPTIONS_HEADER } from './options-header.js'

/** `$validate` on types and instances. The answer is 200 whether the resource is valid or not, and 400 when the body is not JSON. */
export const validateOperation: Operation = {
  name: '$validate',
  types: 'any',
  levels: ['type', 'instance'],
  methods: ['GET', 'POST'],
  definition: 'http://hl7.org/fhir/OperationDefinition/Resource-validate',
  answers: 'OperationOutcome',
  needs: {
    text: 'any right on the type, and r for the modes update and delete',
    anyOf: [{ action: 'read' }, { action: 'search' }, { action: 'create' }, { action: 'update' }, { action: 'delete' }],
  },
  header: OPTIONS_HEADER,
  body: 'text',
  run: engineOnDemand(async () => (await import('./run-operation.js')).runValidate),
}
