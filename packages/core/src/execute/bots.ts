import { type BotRecord, readBot, type BotIdentifier, type StoredBot } from './bot.js'
import { type BotSchemas, type BotFunction, DEFAULT_BOT_LIMITS, type BotLimits, type BotLogLevel, type BotRuntime } from './bot-function.js'
import { createLimiter, type Limiter, type OperationContext } from '../context/index.js'
import {
  AMOUNT,
  checkOptions,
  FLAG,
  FUNCTION,
  having,
  inputShape,
  listOf,
  needed,
  objectWith,
  optionsOf,
  TEXT,
  type InputShape,
  type MemberKind,
} from '../input/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { isObject, isString, stringAt, type JsonObject } from '../json/index.js'
import { isHidden } from '../operation/index.js'
import { allMatches, type SearchQuery, type StoredResource } from '../storage/index.js'

/** A function of the host that is called as a bot. It is trusted and runs in the host's process. */
export interface HostBot extends Omit<BotRecord, 'identifier'> {
  /** Identifiers by which it can be called. Default none. */
  readonly identifier?: BotRecord['identifier']
  /** The function; it may be asynchronous. */
  readonly run: BotFunction
}

/** A line of the operator's log; control characters in `text` are escaped. */
export interface BotLogEntry {
  readonly level: BotLogLevel
  readonly botId: string
  readonly requestId: string
  /** At most 8,192 characters. */
  readonly text: string
}

/** How a process runs bots. */
export interface BotOptions {
  /** Functions of the host that are called as bots. They hide stored bots with the same id. */
  readonly hostBots?: readonly HostBot[]
  /** Runs stored bots, for example `openBotSandbox()`; without one they answer `not-supported`. */
  readonly runtime?: BotRuntime
  /**
   * Checks inputs and outputs of bots that declare schemas: `botSchemas()`. Without it, a bot of the host that declares one causes a `TypeError`, and a stored
   * one answers `not-supported`.
   */
  readonly schemas?: BotSchemas
  /** Changes to the default limits on one run (`DEFAULT_BOT_LIMITS`). */
  readonly limits?: Partial<BotLimits>
  /** Maximum number of bots that run at the same time; stored ones never exceed the runtime's `concurrency`. Default 8. */
  readonly maxConcurrentBots?: number
  /** Maximum number of further bots that may wait for their turn; more are refused with `throttled`. Default 32. */
  readonly maxQueuedBots?: number
  /** Adds a failed bot's own message to the answer as `diagnostics`. Default false. */
  readonly exposeBotErrors?: boolean
  /** Receives what bots log and why they failed. When absent, this is dropped. */
  readonly onLog?: (entry: BotLogEntry) => void
}

/** The bots of a process: its host functions, the runtime of stored ones, and their limits. Created once, shared by all calls. */
export interface Bots {
  readonly host: readonly (BotRecord & { readonly run: BotFunction })[]
  readonly runtime: BotRuntime | undefined
  readonly schemas: BotSchemas | undefined
  readonly limits: BotLimits
  readonly exposeErrors: boolean
  readonly onLog: (entry: BotLogEntry) => void
  readonly hostLimiter: Limiter
  readonly runtimeLimiter: Limiter
}

const LIMITS: InputShape = inputShape<BotLimits>({
  timeoutMs: AMOUNT,
  memoryBytes: AMOUNT,
  outputBytes: AMOUNT,
  logBytes: AMOUNT,
  sourceBytes: AMOUNT,
})

const SHAPE: InputShape = inputShape<BotOptions>({
  hostBots: listOf(objectWith('a bot of the host (with id and a function run)', { id: needed(TEXT), run: needed(FUNCTION) })),
  runtime: having('a runtime of bots', ['run']),
  schemas: having('schemas of bots', ['compile']),
  limits: optionsOf(LIMITS),
  maxConcurrentBots: AMOUNT,
  maxQueuedBots: AMOUNT,
  exposeBotErrors: FLAG,
  onLog: FUNCTION,
})

/**
 * Creates the bots of a process, for the contexts of `execute` and for `createHandler`.
 *
 * @throws {TypeError} for an option that is unknown or of another type, when two functions of the host have the same id, and when one of their schemas
 *   cannot be used.
 */
export function createBots(options: BotOptions = {}): Bots {
  checkOptions('createBots', SHAPE, options)
  const limits = { ...DEFAULT_BOT_LIMITS, ...options.limits }
  const concurrent = options.maxConcurrentBots ?? 8
  const bounds = { queue: options.maxQueuedBots ?? 32, waitMs: limits.timeoutMs, refusal: 'Too many bots are running.' }
  const host = (options.hostBots ?? []).map((bot) => ({ ...bot, identifier: bot.identifier ?? [] }))
  if (new Set(host.map(({ id }) => id)).size < host.length) throw new TypeError('Two host bots have the same id.')
  for (const bot of host) compileSchemas(bot, options.schemas)
  return {
    host,
    runtime: options.runtime,
    schemas: options.schemas,
    limits,
    exposeErrors: options.exposeBotErrors ?? false,
    onLog: options.onLog ?? (() => {}),
    hostLimiter: createLimiter({ ...bounds, concurrency: concurrent }),
    runtimeLimiter: createLimiter({ ...bounds, ...runtimeBounds({ concurrent, queue: bounds.queue }, options.runtime) }),
  }
}

/** Runs that a runtime accepts ahead wait in the runtime. It gets them only if no other limit keeps it below its own concurrency. */
function runtimeBounds(
  { concurrent, queue }: { readonly concurrent: number; readonly queue: number },
  runtime: BotRuntime | undefined,
): { readonly concurrency: number; readonly queue: number } {
  if (runtime === undefined || concurrent < runtime.concurrency) return { concurrency: concurrent, queue }
  const ahead = Math.min(runtime.ahead ?? 0, queue)
  return { concurrency: runtime.concurrency + ahead, queue: queue - ahead }
}

/** Compiles the schemas of a function of the host immediately, so that a mistake shows when the process starts. */
function compileSchemas({ id, inputSchema, outputSchema }: HostBot, schemas: BotSchemas | undefined): void {
  for (const schema of [inputSchema, outputSchema]) {
    if (schema === undefined) continue
    if (schemas === undefined)
      throw new TypeError(`The host bot ${id} declares a schema: createBots needs schemas, for example botSchemas().`)
    schemas.compile(schema, true)
  }
}

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
  // Stored bots are read afterwards, so that a damaged one outside the caller's reach is not reported.
  const visible = all.filter((bot) => isReached(ctx, bot, reach.project)).map((bot) => ('resource' in bot ? storedBot(bot.resource) : bot))
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

async function botsById(ctx: OperationContext, id: string, { host }: Bots): Promise<readonly Candidate[]> {
  const own = host.find((bot) => bot.id === id)
  if (own !== undefined) return [own]
  const stored = await ctx.storage.read('Bot', id)
  return stored === undefined ? [] : [unread(stored)]
}

/** A function of the host, or a stored bot that has not been read yet. */
type Candidate = Bots['host'][number] | { readonly id: string; readonly project: string | undefined; readonly resource: JsonObject }

function unread({ id, resource }: StoredResource): Candidate {
  return { id, project: stringAt(resource, 'project'), resource }
}

async function botsByIdentifier(ctx: OperationContext, { system, value }: BotIdentifier, { host }: Bots): Promise<readonly Candidate[]> {
  const found: Candidate[] = host.filter((bot) => bot.identifier.some((one) => one.system === system && one.value === value))
  for await (const stored of allMatches(ctx.storage, withIdentifier(system, value))) {
    if (!host.some(({ id }) => id === stored.id)) found.push(unread(stored))
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

function isReached(ctx: OperationContext, bot: Candidate, project: string | undefined): boolean {
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
