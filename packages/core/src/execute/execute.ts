import { createPace, explained, type ExplainOption, type OperationContext, type Pace } from '../context/index.js'
import { checkHas, OperationError, escapeControls } from '../errors/index.js'
import { checkInput, FLAG, inputShape, needed, OBJECT, oneOf, TEXT } from '../input/index.js'
import { parseInPieces } from '../json/index.js'
import { isPending } from '../work/index.js'
import { answerOf, type ExecuteResult } from './answer.js'
import {
  textMap,
  type BotCapabilities,
  type BotEvent,
  type TextMap,
  type BotFunction,
  type BotLogLevel,
  type BotTask,
  exceedsBytes,
} from './bot-function.js'
import { checkBotInput, checkBotOutput } from './bot-schemas.js'
import { type Bots, BOT_ADDRESS, findBot, type BotAddress, type FoundBot } from './bots.js'
import { BOT_CONTENT_TYPES } from './content-types.js'
import { isLongInput, unwritableInput } from './input.js'

/** The context of an execution: that of every operation, and the bots. */
export interface ExecuteContext extends OperationContext {
  readonly bots: Bots
}

/** One call of a bot. */
export interface ExecuteInput extends ExplainOption {
  /** The bot, by id or by identifier. */
  readonly bot: BotAddress
  /** `event.input`: text, object, resource, map or `Hl7Message`. */
  readonly input: unknown
  /** Media type of the input. Derived from its value when absent. */
  readonly contentType?: string
  /** Default `POST`. */
  readonly method?: 'GET' | 'POST'
  /** Query parameters of the call, for `event.query`. */
  readonly query?: TextMap
  /** Request headers by lower-case name. The bot gets only the few that do not identify the caller. */
  readonly headers?: TextMap
  /** Default a new id. */
  readonly requestId?: string
  /** The project that the caller's token names; then only bots of that project can be called. */
  readonly project?: string
  /** Capabilities of the bot, with the rights of the caller. Default: none. */
  readonly capabilities?: BotCapabilities
}

const EXECUTE_INPUT = inputShape<ExecuteInput>({
  bot: needed(BOT_ADDRESS),
  input: { words: 'a value, not a promise of one', is: (value) => !isPending(value) },
  contentType: TEXT,
  method: oneOf('GET', 'POST'),
  query: OBJECT,
  headers: OBJECT,
  requestId: TEXT,
  project: TEXT,
  capabilities: OBJECT,
  explain: FLAG,
})

/** The request headers that a bot gets, because they do not identify the caller. */
export const PASSED_HEADERS = ['accept', 'accept-language', 'content-type', 'user-agent'] as const

/**
 * Runs a bot (a function of the host, or stored code) on an input. Bots have their own time limit, `bots.limits.timeoutMs`; the operation's deadline
 * does not apply to them.
 *
 * @returns The answer; with `explain: true` also which bot ran, how its input and answer were read and written, and which schemas they conform to.
 * @throws {OperationError} `not-found`, `multiple-matches` or `parameter-value` when the address does not name exactly one bot; `throttled` when too many
 *   run; `bot-failed`, `bot-timeout` or `bot-too-costly` when it does not answer, with its own message as `diagnostics` only if `exposeBotErrors` is
 *   set; `body-structure` with the place for an input that does not conform to the bot's `inputSchema`; `not-supported` when stored code has no
 *   runtime; `aborted` when the caller disconnects.
 */
export async function execute(ctx: ExecuteContext, input: ExecuteInput): Promise<ExecuteResult> {
  checkInput(ctx, input, EXECUTE_INPUT)
  checkHas('The context', ctx, ['bots'])
  checkHas('bots', ctx.bots, ['host', 'limits'])
  return explained(ctx, input, (own) => executed({ ...own, bots: ctx.bots }, input))
}

async function executed(ctx: ExecuteContext, input: ExecuteInput): Promise<ExecuteResult> {
  const { bots, signal } = ctx
  const bot = await findBot(ctx, input.bot, { bots, project: input.project })
  const pace = createPace({ scheduler: ctx.scheduler, signal })
  const event = await eventOf(ctx, bot, { input, pace })
  explainCall(ctx, bot, { event, isStated: input.contentType !== undefined })
  checkBotInput(ctx, bot, event)
  const log = (level: BotLogLevel, text: string) => bots.onLog({ level, botId: bot.id, requestId: event.requestId, text: logText([text]) })
  const inputText = isLongInput(input.input) ? input.input.json : undefined
  const task = { event, inputText, capabilities: input.capabilities ?? {}, limits: bots.limits, log, signal }
  try {
    const returned = await runBot(bot, bots, task)
    checkBotOutput(ctx, bot, returned)
    const answer = await answerOf(returned, { ...bots.limits, pace: 'run' in bot ? undefined : pace })
    explainAnswer(ctx, answer)
    if (answer.content !== undefined && answer.content.text.length > LONG_ANSWER) await pace.turn()
    return answer
  } catch (error) {
    throw reported(error, bots, log)
  }
}

/** Number of characters of an answer that takes so long to read and write in one go that other requests run before it is sent. */
const LONG_ANSWER = 500_000

interface Called {
  readonly event: BotEvent
  /** True if the call names the media type of its input. */
  readonly isStated: boolean
}

function explainCall({ explain }: ExecuteContext, bot: FoundBot, { event, isStated }: Called): void {
  const origin = 'run' in bot ? 'a function of the host' : 'stored, and runs in the runtime of this process'
  explain?.step({ kind: 'bot', outcome: 'chosen', text: `The bot ${bot.id} is ${origin}.` })
  explain?.step({
    kind: 'content-type',
    outcome: 'chosen',
    ...(isStated && { reason: 'request' }),
    text: `The input is ${event.contentType}, ${isStated ? 'as the call says' : 'by its value'}.`,
  })
}

function explainAnswer({ explain }: ExecuteContext, { status, content }: ExecuteResult): void {
  const sent = content === undefined ? 'nothing to send' : `a value that is sent as ${content.mediaType}`
  explain?.step({ kind: 'content-type', outcome: 'chosen', text: `The bot returned ${sent}; the status is ${status}.` })
}

interface Calling {
  readonly input: ExecuteInput
  readonly pace: Pace
}

async function eventOf(ctx: ExecuteContext, bot: FoundBot, { input, pace }: Calling): Promise<BotEvent> {
  const headers = input.headers ?? {}
  const others = {
    contentType: input.contentType ?? mediaTypeOf(input.input),
    method: input.method ?? 'POST',
    query: input.query ?? textMap([]),
    headers: textMap(PASSED_HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]] as const]))),
    bot: { id: bot.id },
    requestId: input.requestId ?? ctx.newId(),
  }
  const { input: given } = input
  if (!isLongInput(given)) return { input: given, ...others }
  if ('run' in bot || bot.inputSchema !== undefined) return { input: await pace.run(parseInPieces(given.json)), ...others }
  return {
    get input(): unknown {
      return JSON.parse(given.json)
    },
    ...others,
  }
}

function mediaTypeOf(input: unknown): string {
  try {
    return BOT_CONTENT_TYPES.find(({ write }) => write(input) !== undefined)?.mediaType ?? 'application/json'
  } catch (cause) {
    throw unwritableInput(cause)
  }
}

/** Logs a bot's failure, and removes the bot's own message from the error unless it may be shown. */
function reported(error: unknown, { exposeErrors }: Bots, log: BotTask['log']): unknown {
  if (!(error instanceof OperationError) || !error.code.startsWith('bot-')) return error
  const { diagnostics, cause } = error.detail
  log('error', diagnostics === undefined ? error.message : `${error.message} ${diagnostics}`)
  return new OperationError(error.code, error.message, { cause, ...(exposeErrors && diagnostics !== undefined && { diagnostics }) })
}

/**
 * Runs a bot when it is its turn, and returns its result.
 *
 * @throws {OperationError} as the bot's runtime; `not-supported` for stored code without one, `bot-too-costly` when the code is too long,
 *   `throttled` when too many bots wait.
 */
function runBot(bot: FoundBot, bots: Bots, task: Omit<BotTask, 'code'>): Promise<unknown> {
  if ('run' in bot) return bots.hostLimiter.run(() => runHostBot({ ...task, run: bot.run }), task)
  const { runtime, limits } = bots
  if (runtime === undefined) throw new OperationError('not-supported', 'This server runs no stored bots.')
  if (exceedsBytes(bot.code, limits.sourceBytes))
    throw new OperationError('bot-too-costly', `The bot's source is longer than ${limits.sourceBytes} bytes.`)
  return bots.runtimeLimiter.run(() => runtime.run({ ...task, code: bot.code }), task)
}

/** One run of a function of the host. */
interface HostRun extends Omit<BotTask, 'code'> {
  readonly run: BotFunction
  readonly event: BotEvent
  readonly capabilities: BotCapabilities
}

/**
 * Runs a function of the host. It cannot be stopped: when the time limit is exceeded, or the caller disconnects, its `context.signal` is aborted and its
 * result is ignored.
 *
 * @throws {OperationError} `bot-failed`, `bot-timeout` or `aborted`.
 */
async function runHostBot({ run, event, capabilities, limits, log, signal }: HostRun): Promise<unknown> {
  if (signal?.aborted) throw aborted()
  const stop = new AbortController()
  const ended = Promise.withResolvers<never>()
  const end = (error: OperationError) => {
    ended.reject(error)
    stop.abort(error)
  }
  const onAbort = () => end(aborted())
  const timer = setTimeout(
    () => end(new OperationError('bot-timeout', `The bot did not end within ${limits.timeoutMs} ms.`)),
    limits.timeoutMs,
  )
  signal?.addEventListener('abort', onAbort)
  const context = { ...capabilities, log: (...values: readonly unknown[]) => log('info', logText(values)), signal: stop.signal }
  try {
    return await Promise.race([ended.promise, called(run, event, context)])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

function aborted(): OperationError {
  return new OperationError('aborted', 'The request was cancelled.')
}

async function called(run: BotFunction, ...args: Parameters<BotFunction>): Promise<unknown> {
  try {
    return await run(...args)
  } catch (error) {
    throw new OperationError('bot-failed', 'The bot failed.', { cause: error, diagnostics: logText([error]) })
  }
}

const MAX_LINE = 8_192

/** Creates a log line from a bot's values: texts as they are, other values as JSON, control characters escaped, at most 8,192 characters. */
function logText(values: readonly unknown[]): string {
  const line = values.map((value) => (typeof value === 'string' ? value : jsonText(value))).join(' ')
  return escapeControls(line.slice(0, MAX_LINE).toWellFormed()).slice(0, MAX_LINE)
}

function jsonText(value: unknown): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return `[${typeof value}]`
  }
}
