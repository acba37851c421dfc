import { createPace, type OperationContext } from '../context/index.js'
import { OperationError } from '../errors/index.js'
import { storedInstance, type Operation, type OperationRequest, type OperationResponse } from '../operation/index.js'
import { readRequest } from './input.js'
import { checkMode } from './modes.js'
import { OPTIONS_HEADER } from './options-header.js'
import { paced } from '../work/index.js'
import { toOperationOutcome } from './output.js'
import { validate, type ValidateResult } from './validate.js'

/** `$validate` on types and instances. The answer is 200 whether the resource is valid or not, and 400 when the body is not JSON. */
export const validateOperation: Operation = {
  name: '$validate',
  types: 'any',
  levels: ['type', 'instance'],
  methods: ['GET', 'POST'],
  definition: 'http://hl7.org/fhir/OperationDefinition/Resource-validate',
  needs: {
    text: 'any right on the type, and r for the modes update and delete',
    anyOf: [{ action: 'read' }, { action: 'search' }, { action: 'create' }, { action: 'update' }, { action: 'delete' }],
  },
  header: OPTIONS_HEADER,
  body: 'text',
  run,
}

async function run(ctx: OperationContext, request: OperationRequest): Promise<OperationResponse> {
  const asked = await paced(readRequest(request), createPace(ctx))
  const findings = await checkMode(ctx, request, asked)
  if (asked.mode === 'delete') return answer(ctx, { valid: true, findings })
  const { source, profiles, places, bestPractice, refuse, level } = asked
  const resource = source ?? (await storedText(ctx, request))
  const result = await validate(ctx, { resource, profiles, places, bestPractice, refuse, level })
  const valid = result.valid && findings.every(({ severity }) => severity !== 'error')
  return answer(ctx, { valid, findings: [...findings, ...result.findings] })
}

function answer(ctx: OperationContext, result: ValidateResult): OperationResponse {
  const isUnreadable = result.findings.some(({ severity }) => severity === 'fatal')
  return { status: isUnreadable ? 400 : 200, resource: { ...toOperationOutcome(result, { id: ctx.newId() }) } }
}

/** The text of the stored resource, where none came with the call. */
async function storedText(ctx: OperationContext, request: OperationRequest): Promise<string> {
  const stored = await storedInstance(ctx, request)
  if (stored !== undefined) return stored.text
  throw new OperationError('parameter-required', 'There is no resource to validate.', { expression: ['resource'] })
}
