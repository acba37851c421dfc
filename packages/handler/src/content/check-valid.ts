import { DEFAULT_BOT_LIMITS, type Bots } from 'fhir-ops/execute'
import { checkBotSchemas, readBot } from 'fhir-ops/internal/execute'
import { createPace } from 'fhir-ops/internal/context'
import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { measureJson, type JsonObject } from 'fhir-ops/internal/json'
import { onDemand } from 'fhir-ops/internal/work'
import type { Caller } from '../auth/caller.js'
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

/**
 * Checks a Bot before it is stored: it is well-formed, does not use a runtime of the host, its source is not too long, its schemas are usable,
 * and it belongs to the caller's project if the token names one.
 *
 * @throws {OperationError} `resource-invalid`, `too-costly`, `forbidden`, `definition-invalid`, `not-supported`
 */
export function checkBot(resource: JsonObject, { principal }: Caller, bots: Bots | undefined): void {
  const { sourceBytes } = bots?.limits ?? DEFAULT_BOT_LIMITS
  const bot = readBot(resource)
  if (new TextEncoder().encode(bot.code).length > sourceBytes) {
    throw new OperationError('too-costly', `The source of a Bot must not be longer than ${sourceBytes} bytes.`, {
      expression: ['Bot.code'],
    })
  }
  if (principal?.project !== undefined && bot.project !== principal.project) {
    throw new OperationError('forbidden', 'The Bot must belong to the project of the access token.', { expression: ['Bot.project'] })
  }
  if (bots !== undefined) checkBotSchemas(bot, bots)
}
