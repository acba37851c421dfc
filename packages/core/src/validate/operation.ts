import type { OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import type { JsonSource } from '../json/index.js'
import type { Operation, OperationRequest, OperationResponse } from '../operation/index.js'
import { readRequest, type ValidateRequest } from './input.js'
import { outcomeOfResult } from './output.js'
import { validate } from './validate.js'

/** `$validate` on types and instances. The answer is 200 whether the resource is valid or not, and 400 when the body is no JSON. */
export const validateOperation: Operation = {
  name: '$validate',
  types: 'any',
  levels: ['type', 'instance'],
  methods: ['GET', 'POST'],
  definition: 'http://hl7.org/fhir/OperationDefinition/Resource-validate',
  body: 'text',
  run,
}

async function run(ctx: OperationContext, request: OperationRequest): Promise<OperationResponse> {
  const asked = readRequest(request)
  const resource = await resourceOf(ctx, request, asked)
  const result = await validate(ctx, { resource, profiles: asked.profiles, places: asked.places })
  const isUnreadable = result.findings.some(({ severity }) => severity === 'fatal')
  return { status: isUnreadable ? 400 : 200, resource: outcomeOfResult(result, ctx.newId) }
}

/** What came with the call, else what is stored under the id. */
async function resourceOf(
  ctx: OperationContext,
  { type, id }: OperationRequest,
  { source }: ValidateRequest,
): Promise<JsonSource | string> {
  if (source !== undefined) return source
  if (id === undefined) throw new OperationError('parameter-required', 'There is no resource to validate.', { expression: ['resource'] })
  ctx.authorize?.('read', type, id)
  const stored = await ctx.storage.read(type, id)
  if (stored === undefined) throw new OperationError('not-found', `There is no ${type} with id ${quoted(id)}.`)
  return stored.text
}
