import { createPace, forRequest } from '../context/index.js'
import type { Operation } from '../operation/index.js'
import { parameterReader } from '../parameters/index.js'
import { ignoreUnknown, paced, readTxResources } from '../terminology/index.js'
import { expand } from './expand.js'
import { readExpandInput } from './read-input.js'
import { writeExpansion } from './write-expansion.js'

/** `ValueSet/$expand` as the handler mounts it. */
export const expandOperation: Operation = {
  name: '$expand',
  types: ['ValueSet'],
  levels: ['type', 'instance'],
  methods: ['GET', 'POST'],
  definition: 'http://hl7.org/fhir/OperationDefinition/ValueSet-expand',
  async run(base, request) {
    const reader = parameterReader(request.parameters)
    const ctx = forRequest(base, { resources: readTxResources(reader) })
    const input = await readExpandInput(ctx, request, reader)
    ignoreUnknown(request, reader)
    const expansion = await expand(ctx, input)
    const writing = writeExpansion(expansion, { id: ctx.newId(), now: ctx.now() })
    return { status: 200, resource: await paced(writing, createPace(ctx)) }
  },
}
