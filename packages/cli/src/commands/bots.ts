import { basename, extname } from 'node:path'
import { openBotSandbox } from '@fhir-ops/bot-sandbox'
import { Command, Option } from 'commander'
import { forRequest } from 'fhir-ops/context'
import { createBots, execute } from 'fhir-ops/execute'
import { OperationError, quoted } from 'fhir-ops/internal/errors'
import { BOT_CONTENT_TYPES, readBot, readBotInput, writeBotOutput, type BotAddress } from 'fhir-ops/internal/execute'
import { isResourceId, putResource } from 'fhir-ops/storage'
import { withEngine, type Engine } from '../engine.js'
import type { Io } from '../io.js'
import { checkJson } from '../json-fault.js'
import { hintAbout, withHint } from '../known-names.js'
import { inputName, inputText, STANDARD_INPUT, SAMPLE_PATH } from '../files.js'
import { checkIsKept, loadOption, storageOption, wholeNumber } from './options.js'

interface ExecuteOptions {
  readonly storage: string
  readonly load: readonly string[]
  readonly input?: string
  readonly contentType: string
  readonly timeout?: number
}

/** Options for running a bot: file and media type of its input, and time limit. */
type BotInputOptions = Pick<ExecuteOptions, 'input' | 'contentType' | 'timeout'>

/** Adds the options of a command that runs a bot. */
function withBotInput(command: Command): Command {
  const contentTypes = BOT_CONTENT_TYPES.map(({ mediaType }) => mediaType)
  return command
    .option('--input <file>', 'file with the input; - or nothing for standard input')
    .addOption(new Option('--content-type <type>', 'how the input is read').choices(contentTypes).default('application/json'))
    .option('--timeout <ms>', 'time limit', wholeNumber(1))
}

/** `fhir-ops execute`. */
export function executeCommand(io: Io): Command {
  const command = new Command('execute')
    .description('Run a stored bot. Its answer goes to standard output, its log to standard error.')
    .argument('<bot>', 'id, or identifier as system|value')
  return withBotInput(command)
    .addOption(storageOption())
    .addOption(loadOption())
    .addHelpText('after', `\nExample:\n  echo '{"weightKg":61.5,"heightM":1.68}' | fhir-ops execute bmi --load ${SAMPLE_PATH}`)
    .action((bot: string, options: ExecuteOptions) => withEngine(options, io, (engine) => runBot({ engine, bot, io }, options)))
}

/** `fhir-ops bot`, with its subcommands. */
export function botCommand(io: Io): Command {
  return new Command('bot')
    .description('Run a bot from its file, or store it.')
    .addCommand(runCommand(io))
    .addCommand(deployCommand(io))
    .addHelpText('after', `\nExample:\n  echo '{"n":2}' | fhir-ops bot run twice.js`)
}

function runCommand(io: Io): Command {
  return withBotInput(new Command('run'))
    .description(
      'Run the bot of a file in the sandbox, as a stored one is run. Its answer goes to standard output, its log to standard error.',
    )
    .argument('<file>', 'JavaScript that exports handler(event, context); - for standard input')
    .addHelpText('after', `\nExample:\n  echo '{"n":2}' | fhir-ops bot run twice.js`)
    .action((file: string, options: BotInputOptions) =>
      withEngine({ storage: 'memory' }, io, async (engine) =>
        runBot({ engine, bot: await store(engine, await inputText(file, io), 'bot'), file: inputName(file), io }, options),
      ),
    )
}

interface DeployOptions {
  readonly storage: string
  readonly id?: string
}

function deployCommand(io: Io): Command {
  return new Command('deploy')
    .description('Store the bot of a file; one of the same id is replaced.')
    .argument('<file>', 'JavaScript that exports handler(event, context); - for standard input')
    .addOption(storageOption().makeOptionMandatory())
    .option('--id <id>', 'id of the bot (default: the name of the file)')
    .addHelpText('after', '\nExample:\n  fhir-ops bot deploy twice.js --storage sqlite:content.db')
    .action((file: string, options: DeployOptions) => {
      checkIsKept(options.storage)
      const id = idFor(file, options.id)
      return withEngine({ storage: options.storage, create: true }, io, async (engine) => {
        const code = await inputText(file, io)
        await checkCode(code, inputName(file))
        io.err(`stored Bot/${await store(engine, code, id)}`)
      })
    })
}

/** Refuses code that does not compile, without running any of it. @throws {OperationError} `bot-failed`, with the place in the file. */
async function checkCode(code: string, file: string): Promise<void> {
  const runtime = openBotSandbox({ workers: 1 })
  try {
    await runtime.check(code)
  } catch (error) {
    throw withBotsWords(error, file)
  } finally {
    await runtime.close()
  }
}

/** Returns the id under which to store the bot of a file. @throws {OperationError} `parameter-value` if the name of the file is none. */
function idFor(file: string, given: string | undefined): string {
  if (given === undefined && file === STANDARD_INPUT)
    throw new OperationError('parameter-value', 'The bot of standard input needs an id: give it as --id.')
  const id = given ?? basename(file, extname(file))
  if (isResourceId(id)) return id
  throw new OperationError(
    'parameter-value',
    `${quoted(id)} is not an id, of 1 to 64 letters, digits, hyphens and dots: give another as --id.`,
  )
}

/** Stores the bot and returns its id. Other members of a stored Bot with this id, such as identifiers and schemas, are kept. */
async function store({ ctx, indexer }: Engine, code: string, id: string): Promise<string> {
  const before = await ctx.storage.read('Bot', id)
  const bot = { ...before?.resource, resourceType: 'Bot', id, code }
  readBot(bot)
  await ctx.storage.write([putResource({ type: 'Bot', id, source: bot }, indexer)])
  return id
}

/** A bot to run, and the engine in which it is stored. */
interface BotRun {
  readonly engine: Engine
  /** Id, or identifier as `system|value`. */
  readonly bot: string
  /** File with the bot's code, for places in messages. */
  readonly file?: string
  readonly io: Io
}

/** Runs a bot in the sandbox: its answer goes to `io.out`, its log to `io.err`. @throws {OperationError} as `execute`. */
async function runBot({ engine, bot, file, io }: BotRun, options: BotInputOptions): Promise<void> {
  const named = options.input ?? STANDARD_INPUT
  const source = inputName(named)
  const { input, contentType } = readBotInput(options.contentType, await inputText(named, io), (text) => parseJson(text, source))
  const { botSchemas } = await import('@fhir-ops/bot-sandbox/schemas')
  const runtime = openBotSandbox()
  try {
    const limits = options.timeout === undefined ? {} : { limits: { timeoutMs: options.timeout } }
    const bots = createBots({
      runtime,
      schemas: botSchemas(),
      ...limits,
      exposeBotErrors: true,
      // A failure is reported at the end, with the place in the code.
      onLog: ({ level, text }) => (level === 'error' ? undefined : io.err(`${level}: ${text}`)),
    })
    const answer = await execute({ ...forRequest(engine.ctx, {}), bots }, { bot: addressOf(bot), input, contentType })
    io.out(writeBotOutput(answer).body ?? '')
  } catch (error) {
    throw withHint(withBotsWords(error, file ?? `Bot/${bot}`), await hintAbout(error, engine.ctx))
  } finally {
    await runtime.close()
  }
}

/** Adds the bot's own error message, and the place in its code, to a failure of a bot. */
function withBotsWords(error: unknown, source: string): unknown {
  if (!(error instanceof OperationError) || error.detail.diagnostics === undefined) return error
  const [words = '', ...frames] = error.detail.diagnostics.split(/\n {4}at /)
  const place = frames.map((frame) => /bot\.js(:\d+:\d+)/.exec(frame)?.[1]).find((found) => found !== undefined)
  const message = `${error.message.replace(/\.$/, '')}${place === undefined ? '' : ` at ${source}${place}`}: ${words}`
  return new OperationError(error.code, message, { cause: error })
}

function addressOf(bot: string): BotAddress {
  return bot.includes('|') ? { identifier: bot } : { id: bot }
}

function parseJson(text: string, source: string): unknown {
  if (text.trim() === '')
    throw new OperationError(
      'body-invalid',
      'The bot has no input: give JSON on standard input (null where it needs none), or --input FILE.',
    )
  checkJson(text, source)
  return JSON.parse(text)
}
