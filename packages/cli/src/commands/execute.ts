import { openBotSandbox } from '@fhir-ops/bot-sandbox'
import { Command, Option } from 'commander'
import { forRequest } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { decodeUtf8 } from 'fhir-ops/internal/text'
import { BOT_CONTENT_TYPES, readBotInput, writeBotOutput, type BotAddress } from 'fhir-ops/internal/execute'
import { createBots, execute } from 'fhir-ops/execute'
import { openEngine, type Engine } from '../engine.js'
import type { Io } from '../io.js'
import { hintAbout, withHint } from '../known-names.js'
import { faultIn } from '../json-fault.js'
import { unpackedBytes } from '../read-file.js'
import { loadOption, storageOption, wholeNumber } from './options.js'
import { SAMPLE_PATH } from '../sample-folder.js'

interface ExecuteOptions {
  readonly storage: string
  readonly load: readonly string[]
  readonly input?: string
  readonly contentType: string
  readonly timeout?: number
}

/** How a bot is run: where its input is, what it is, and how long it may take. */
export type BotInputOptions = Pick<ExecuteOptions, 'input' | 'contentType' | 'timeout'>

/** Adds the options of a command that runs a bot. */
export function withBotInput(command: Command): Command {
  const contentTypes = BOT_CONTENT_TYPES.map(({ mediaType }) => mediaType)
  return command
    .option('--input <file>', 'file with the input; standard input when absent')
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
    .action(async (bot: string, options: ExecuteOptions) => {
      const engine = await openEngine(options, io)
      try {
        await runBot({ engine, bot, io }, options)
      } finally {
        await engine.close()
      }
    })
}

/** A bot, and where it is stored. */
export interface BotRun {
  readonly engine: Engine
  /** Id, or identifier as `system|value`. */
  readonly bot: string
  /** The file that its code is from, to name places in. */
  readonly file?: string
  readonly io: Io
}

/** Runs a bot in the sandbox: its answer goes to `io.out`, its log to `io.err`. @throws {OperationError} as `execute`. */
export async function runBot({ engine, bot, file, io }: BotRun, options: BotInputOptions): Promise<void> {
  const bytes = options.input === undefined ? new TextEncoder().encode(await io.stdin()) : await unpackedBytes(options.input)
  decodeUtf8(bytes, options.input ?? 'stdin') // names the file that is in another encoding
  const { input, contentType } = readBotInput(options.contentType, bytes, (text) => parseJson(text, options.input ?? 'stdin'))
  const { botSchemas } = await import('@fhir-ops/bot-sandbox/schemas')
  const runtime = openBotSandbox()
  try {
    const limits = options.timeout === undefined ? {} : { limits: { timeoutMs: options.timeout } }
    const bots = createBots({
      runtime,
      schemas: botSchemas(),
      ...limits,
      exposeBotErrors: true,
      // A failure is said at the end, with the place in the code.
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

/** A failure of a bot with its own words, and the place in its code. */
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
  const fault = faultIn(text)
  if (fault === undefined) return JSON.parse(text)
  throw new OperationError('body-invalid', `${source}:${fault.line}:${fault.column} is not JSON: ${fault.text}.`)
}
