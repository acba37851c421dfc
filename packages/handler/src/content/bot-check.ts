import { OperationError } from 'fhir-ops/errors'
import { DEFAULT_BOT_LIMITS, readBot, type BotLimits } from 'fhir-ops/execute'
import type { JsonObject } from 'fhir-ops/json'
import type { Caller } from '../auth/caller.js'

/**
 * Checks a Bot that is to be stored: it is well-formed, names no runtime of the host, its source is not too long, and it belongs to the
 * caller's project when the token names one.
 *
 * @throws {OperationError} `resource-invalid`, `too-costly`, `forbidden`
 */
export function checkBot(resource: JsonObject, { principal }: Caller, limits: BotLimits = DEFAULT_BOT_LIMITS): void {
  const bot = readBot(resource)
  if (new TextEncoder().encode(bot.code).length > limits.sourceBytes) {
    throw new OperationError('too-costly', `The source of a Bot must not be longer than ${limits.sourceBytes} bytes.`, {
      expression: ['Bot.code'],
    })
  }
  if (principal?.project !== undefined && bot.project !== principal.project) {
    throw new OperationError('forbidden', 'The Bot must belong to the project of the access token.', { expression: ['Bot.project'] })
  }
}
