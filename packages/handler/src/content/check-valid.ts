import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import type { JsonObject } from 'fhir-ops/internal/json'
import { issueOfFinding } from 'fhir-ops/internal/validate'
import { validate } from 'fhir-ops/validate'
import type { Service } from '../service.js'

/**
 * Refuses a resource with errors, where the service validates what it stores. Bots, which R4 does not define, have checks of their own.
 *
 * @throws {OperationError} `validation-failed` with all errors that `$validate` finds.
 */
export async function checkValid({ validateWrites }: Service, ctx: OperationContext, { type, source }: ToStore): Promise<void> {
  if (validateWrites === undefined || type === 'Bot') return
  const { valid, findings } = await validate(ctx, { resource: source, checks: validateWrites })
  if (valid) return
  const issues = findings.filter(({ severity }) => severity === 'error' || severity === 'fatal').map(issueOfFinding)
  throw new OperationError('validation-failed', `The ${type} is not valid, so it is not stored.`, { issues })
}

interface ToStore {
  readonly type: string
  /** JSON text, or an object. */
  readonly source: string | JsonObject
}
