import { createPace, forRequest, type Limits, type OperationContext } from '../context/index.js'
import type { JsonObject } from '../json/index.js'
import { TERMINOLOGY_NEEDS, type Operation, type OperationRequest } from '../operation/index.js'
import { parameterReader, type ParameterReader } from '../parameters/index.js'
import { ignoreUnknown, readTxResources } from '../terminology/index.js'
import { finished, paced } from '../work/index.js'
import { expand, openExpansion } from './expand.js'
import type { ExpandInput } from './expand-input.js'
import { readExpandInput } from './input.js'
import { writeEntry, writeExpansion, type Stamp } from './output.js'

/** `ValueSet/$expand` as the handler mounts it. */
export const expandOperation: Operation = {
  name: '$expand',
  types: ['ValueSet'],
  levels: ['type', 'instance'],
  methods: ['GET', 'POST'],
  definition: 'http://hl7.org/fhir/OperationDefinition/ValueSet-expand',
  needs: TERMINOLOGY_NEEDS,
  async run(base, request) {
    const { ctx, input } = await readCall(base, request)
    const writing = writeExpansion(await expand(ctx, input), stampOf(ctx))
    return { status: 200, resource: await paced(writing, createPace(ctx)) }
  },
  async stream(base, request) {
    parameterReader(request.parameters).refuse('_explain')
    const { ctx, input } = await readCall(base, request)
    return lines(ctx, input)
  },
}

interface ExpandCall {
  readonly ctx: OperationContext
  readonly input: ExpandInput
}

async function readCall(base: OperationContext, request: OperationRequest): Promise<ExpandCall> {
  const reader = parameterReader(request.parameters)
  const ctx = forRequest(base, { resources: readTxResources(reader), limits: readLimits(base, reader) })
  const input = await readExpandInput(ctx, request, reader)
  ignoreUnknown(request, reader)
  return { ctx, input }
}

/** `limit` of the terminology ecosystem may only lower the bound on expansions. */
function readLimits({ limits }: OperationContext, reader: ParameterReader): Partial<Limits> {
  return { maxExpansion: Math.min(limits.maxExpansion, reader.count('limit') ?? Infinity) }
}

/** The ValueSet with all but its codes, then the codes. */
async function lines(ctx: OperationContext, input: ExpandInput): Promise<AsyncIterable<JsonObject>> {
  const { entries, ...frame } = await openExpansion(ctx, input)
  const first = finished(writeExpansion({ ...frame, contains: [] }, stampOf(ctx)))
  return (async function* all() {
    yield first
    for await (const entry of entries) yield writeEntry(entry)
  })()
}

function stampOf(ctx: OperationContext): Stamp {
  return { id: ctx.newId(), now: ctx.now() }
}
