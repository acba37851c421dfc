import { OperationError } from 'fhir-ops/errors'
import { issueOfFinding, validate } from 'fhir-ops/validate'
import type { Call } from '../routes/route.js'
import type { Service } from '../service.js'

/**
 * Refuses a resource with errors, where the service validates what it stores. Bots, which R4 does not define, have checks of their own.
 *
 * @throws {OperationError} `validation-failed` with all errors that `$validate` finds.
 */
export async function checkValid({ validateWrites }: Service, { ctx, body }: Call, type: string): Promise<void> {
  if (validateWrites === undefined || type === 'Bot') return
  const { valid, findings } = await validate(ctx, { resource: body?.text ?? '', checks: validateWrites })
  if (valid) return
  const issues = findings.filter(({ severity }) => severity === 'error' || severity === 'fatal').map(issueOfFinding)
  throw new OperationError('validation-failed', `The ${type} is not valid, so it is not stored.`, { issues })
}
