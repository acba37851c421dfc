import type { Operation } from '../operation/index.js'
import { readTranslate } from './input.js'
import { writeTranslation } from './output.js'
import { translate } from './translate.js'

/** `ConceptMap/$translate` and `ConceptMap/<id>/$translate` (INTERFACE.md 4.5). */
export const translateOperation: Operation = {
  name: '$translate',
  types: ['ConceptMap'],
  levels: ['type', 'instance'],
  methods: ['GET', 'POST'],
  definition: 'http://hl7.org/fhir/OperationDefinition/ConceptMap-translate',
  needs: { text: 'ConceptMap.r', anyOf: [{ action: 'read', type: 'ConceptMap' }] },
  run: async (ctx, request) => {
    const call = readTranslate(request)
    return { status: 200, resource: writeTranslation(await translate(ctx, call.input), call) }
  },
}
