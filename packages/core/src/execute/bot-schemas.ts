import { OperationError } from '../errors/index.js'
import { isHl7Message } from '../hl7v2/index.js'
import type { Bots } from './bots.js'
import type { DeclaredSchemas, SchemaCheck, SchemaProblem } from './declared-schemas.js'
import type { FoundBot } from './find-bot.js'
import { isBotResponse } from './response.js'

/**
 * Checks the input of a bot that declares a schema.
 *
 * @throws {OperationError} `body-structure` with the place; `not-supported` and `definition-invalid` as `checkOf`.
 */
export function checkBotInput(bot: FoundBot, bots: Bots, input: unknown): void {
  const problem = checkOf(bot, bots, 'inputSchema')?.(comparable(input))
  if (problem === undefined) return
  const place = placeIn('input', problem)
  throw new OperationError('body-structure', `The input does not conform to the bot's inputSchema: ${place} ${problem.text}.`, {
    expression: [place],
  })
}

/** Checks what a bot returned. @throws {OperationError} `bot-failed` with the place as `diagnostics`. */
export function checkBotOutput(bot: FoundBot, bots: Bots, returned: unknown): void {
  if (isBotResponse(returned) && returned.status >= 300) return
  const value = isBotResponse(returned) ? returned.body : returned
  const problem = checkOf(bot, bots, 'outputSchema')?.(comparable(value))
  if (problem === undefined) return
  throw new OperationError('bot-failed', 'What the bot returned does not conform to its outputSchema.', {
    diagnostics: `${placeIn('output', problem)} ${problem.text}.`,
  })
}

/**
 * The check of a declared schema; `undefined` where none is declared.
 *
 * @throws {OperationError} `not-supported` when the process checks no schemas; `definition-invalid` for a stored one that is not allowed.
 */
function checkOf(bot: FoundBot, { schemas }: Bots, member: keyof DeclaredSchemas): SchemaCheck | undefined {
  const schema = bot[member]
  if (schema === undefined) return undefined
  if (schemas === undefined) throw new OperationError('not-supported', 'The bot declares a schema, and this server checks none.')
  try {
    return schemas.compile(schema, 'run' in bot)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new OperationError('definition-invalid', `The Bot has an ${member} that cannot be used: ${error.message}`, {
      expression: [`Bot.${member}`],
      cause: error,
    })
  }
}

/** Refuses schemas of a bot that is to be stored. @throws {OperationError} as `checkOf`. */
export function checkBotSchemas(bot: FoundBot, bots: Bots): void {
  checkOf(bot, bots, 'inputSchema')
  checkOf(bot, bots, 'outputSchema')
}

function comparable(value: unknown): unknown {
  return isHl7Message(value) ? String(value) : (value ?? null)
}

function placeIn(root: string, { place }: SchemaProblem): string {
  return place === '' || place.startsWith('[') ? root + place : `${root}.${place}`
}
