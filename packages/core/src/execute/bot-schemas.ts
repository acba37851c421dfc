import { OperationError } from '../errors/index.js'
import type { Explain } from '../explain/index.js'
import { isHl7Message } from '../hl7v2/index.js'
import type { BotEvent, DeclaredSchemas, SchemaCheck, SchemaProblem } from './bot-function.js'
import type { Bots, FoundBot } from './bots.js'
import { isBotResponse } from './answer.js'

/** Compiles schemas, and records in the explanation whether values conform. */
interface SchemaChecking {
  readonly bots: Bots
  readonly explain?: Explain | undefined
}

/**
 * Checks the input of a bot that declares a schema.
 *
 * @throws {OperationError} `body-structure` with the place; `not-supported` and `definition-invalid` as `checkOf`.
 */
export function checkBotInput(checking: SchemaChecking, bot: FoundBot, event: Pick<BotEvent, 'input'>): void {
  const problem = problemOf(checking, bot, { member: 'inputSchema', value: () => event.input })
  if (problem === undefined) return
  const place = placeIn('input', problem)
  throw new OperationError('body-structure', `The input does not conform to the bot's inputSchema: ${place} ${problem.text}.`, {
    expression: [place],
  })
}

/** Checks what a bot returned. @throws {OperationError} `bot-failed` with the place as `diagnostics`. */
export function checkBotOutput(checking: SchemaChecking, bot: FoundBot, returned: unknown): void {
  if (isBotResponse(returned) && returned.status >= 300) return
  const value = isBotResponse(returned) ? returned.body : returned
  const problem = problemOf(checking, bot, { member: 'outputSchema', value: () => value })
  if (problem === undefined) return
  throw new OperationError('bot-failed', 'What the bot returned does not conform to its outputSchema.', {
    diagnostics: `${placeIn('output', problem)} ${problem.text}.`,
  })
}

interface Checked {
  readonly member: keyof DeclaredSchemas
  /** Only called if there is a schema. */
  readonly value: () => unknown
}

/** The problem of a value with a declared schema, if there is one. */
function problemOf({ bots, explain }: SchemaChecking, bot: FoundBot, { member, value }: Checked): SchemaProblem | undefined {
  const check = checkOf(bot, bots, member)
  if (check === undefined) return undefined
  const problem = check(comparable(value()))
  const [outcome, verb] = problem === undefined ? (['holds', 'conforms'] as const) : (['fails', 'does not conform'] as const)
  const subject = member === 'inputSchema' ? 'The input' : 'What the bot returned'
  explain?.step({ kind: 'schema', outcome, path: `Bot.${member}`, text: `${subject} ${verb} to the ${member} of the bot.` })
  return problem
}

/**
 * The check of a declared schema; `undefined` when none is declared.
 *
 * @throws {OperationError} `not-supported` when the process does not check schemas; `definition-invalid` for a stored one that is not allowed.
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

/** Checks the schemas of a bot before it is stored. @throws {OperationError} as `checkOf`. */
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
