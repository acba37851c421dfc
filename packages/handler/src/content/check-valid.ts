import { createPace } from 'fhir-ops/internal/context'
import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { measureJson, type JsonObject } from 'fhir-ops/internal/json'
import { onDemand } from 'fhir-ops/internal/work'
import type { Service } from '../service.js'

const validation = onDemand(() => import('fhir-ops/internal/validate'))

/** A resource before it is stored. */
interface ToStore {
  readonly type: string
  /** JSON text; absent for a resource from a bot. */
  readonly text?: string
  /** The parsed resource. */
  readonly resource: JsonObject
}

/**
 * Refuses a resource with errors, if the service validates what it stores. Bots are not defined by R4 and have their own checks.
 *
 * @throws {OperationError} `validation-failed` with all errors that `$validate` finds.
 */
export async function checkValid({ validateWrites }: Service, ctx: OperationContext, { type, ...given }: ToStore): Promise<void> {
  if (validateWrites === 'none' || type === 'Bot') return
  const checks = validateWrites === 'full' ? 'all' : 'structure'
  const { validate, issueOfFinding } = await validation()
  const { valid, findings } = await validate(ctx, { resource: await sourceOf(ctx, given), checks })
  if (valid) return
  const issues = findings.filter(({ severity }) => severity === 'error' || severity === 'fatal').map(issueOfFinding)
  throw new OperationError('validation-failed', `The ${type} is not valid, so it is not stored.`, { issues })
}

/** Returns the parsed resource, which saves reading the text again, unless it has numbers that JavaScript would write differently. */
async function sourceOf(ctx: OperationContext, { text, resource }: Omit<ToStore, 'type'>): Promise<string | JsonObject> {
  if (text === undefined) return resource
  const { numbers } = await createPace(ctx).run(measureJson(text, { numbers: true }))
  return numbers.size === 0 ? resource : text
}
