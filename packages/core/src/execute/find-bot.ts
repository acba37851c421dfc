import type { OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import type { MemberKind } from '../input/index.js'
import { isObject, isString, type JsonObject } from '../json/index.js'
import { isHidden } from '../operation/index.js'
import { allMatches, type SearchQuery } from '../storage/index.js'
import { readBot, type BotIdentifier, type BotRecord, type StoredBot } from './bot.js'
import type { Bots } from './bots.js'
import type { BotFunction } from './bot-function.js'

/** The address of a bot in a call. */
export type BotAddress = { readonly id: string } | { readonly identifier: BotIdentifier | string }

/** A bot that can be run: a function of the host, or stored code. */
export type FoundBot = StoredBot | (BotRecord & { readonly run: BotFunction })

/** A `BotAddress` of a caller in plain JavaScript. */
export const BOT_ADDRESS: MemberKind = {
  words: "the address of a bot: { id }, or { identifier: 'system|value' } or { identifier: { system, value } }",
  is: (value) => isObject(value) && ('id' in value ? isString(value['id']) : isIdentifier(value['identifier'])),
}

function isIdentifier(value: unknown): boolean {
  return isString(value) || (isObject(value) && isString(value['system']) && isString(value['value']))
}

/** Limits the bots that a caller can call. */
interface BotReach {
  readonly bots: Bots
  /** The only project whose bots the caller can call; all bots when absent. */
  readonly project?: string | undefined
}

/**
 * Finds the one bot with an address, among those that the caller may read.
 *
 * @throws {OperationError} `not-found` when there is none, `multiple-matches` naming the ids when there are several, `parameter-value`
 *   when the identifier is not `system|value`.
 */
export async function findBot(ctx: OperationContext, address: BotAddress, reach: BotReach): Promise<FoundBot> {
  const all =
    'id' in address
      ? await botsById(ctx, address.id, reach.bots)
      : await botsByIdentifier(ctx, readIdentifier(address.identifier), reach.bots)
  const visible = all.filter((bot) => isReached(ctx, bot, reach.project))
  const [found, ...others] = visible
  if (found === undefined) {
    const detail = 'id' in address ? { missing: { kind: 'Bot', name: address.id } } : { expression: ['identifier'] }
    throw new OperationError('not-found', `There is no bot ${describe(address)}.`, detail)
  }
  if (others.length > 0) {
    const ids = visible.map(({ id }) => id).sort()
    throw new OperationError(
      'multiple-matches',
      `The bots ${listed(ids)} have the identifier ${describe(address)}; call one of them by its id.`,
      { expression: ['identifier'] },
    )
  }
  return found
}

function readIdentifier(identifier: BotIdentifier | string): BotIdentifier {
  if (typeof identifier !== 'string') return identifier
  const [system, value, ...rest] = identifier.split('|')
  if (!system || !value || rest.length > 0) {
    throw new OperationError('parameter-value', `Parameter 'identifier' must be system|value, not ${quoted(identifier)}.`, {
      expression: ['identifier'],
    })
  }
  return { system, value }
}

async function botsById(ctx: OperationContext, id: string, { host }: Bots): Promise<readonly FoundBot[]> {
  const own = host.find((bot) => bot.id === id)
  if (own !== undefined) return [own]
  const stored = await ctx.storage.read('Bot', id)
  return stored === undefined ? [] : [storedBot(stored.resource)]
}

async function botsByIdentifier(ctx: OperationContext, { system, value }: BotIdentifier, { host }: Bots): Promise<readonly FoundBot[]> {
  const found: FoundBot[] = host.filter((bot) => bot.identifier.some((one) => one.system === system && one.value === value))
  for await (const stored of allMatches(ctx.storage, withIdentifier(system, value))) {
    if (!host.some(({ id }) => id === stored.id)) found.push(storedBot(stored.resource))
  }
  return found
}

/** Reads a stored bot, which may have been stored without the check of `readBot`. */
function storedBot(resource: JsonObject): StoredBot {
  try {
    return readBot(resource)
  } catch (error) {
    if (!(error instanceof OperationError)) throw error
    throw new OperationError('definition-invalid', error.message, { expression: error.expression, cause: error })
  }
}

function withIdentifier(system: string, value: string): SearchQuery {
  const all = [
    { field: 'system', op: 'eq', operand: system },
    { field: 'value', op: 'eq', operand: value },
  ] as const
  return { type: 'Bot', where: { kind: 'entry', param: 'identifier', all } }
}

function isReached(ctx: OperationContext, bot: FoundBot, project: string | undefined): boolean {
  return (project === undefined || bot.project === project) && !isHidden(ctx, 'Bot', bot.id)
}

function describe(address: BotAddress): string {
  if ('id' in address) return quoted(address.id)
  const { identifier } = address
  return quoted(typeof identifier === 'string' ? identifier : `${identifier.system}|${identifier.value}`)
}

const MAX_LISTED = 20

function listed(ids: readonly string[]): string {
  const shown = ids.slice(0, MAX_LISTED).map(quoted).join(', ')
  return ids.length > MAX_LISTED ? `${shown} and ${ids.length - MAX_LISTED} more` : shown
}
