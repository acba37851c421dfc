import { basename, extname } from 'node:path'
import { Command } from 'commander'
import { readBot } from 'fhir-ops/internal/execute'
import { isResourceId, putResource } from 'fhir-ops/storage'
import { OperationError, quoted } from 'fhir-ops/internal/errors'
import { openEngine, type Engine, type EngineOptions } from '../engine.js'
import type { Io } from '../io.js'
import { fileText } from '../read-file.js'
import { runBot, withBotInput, type BotInputOptions } from './execute.js'
import { storageOption } from './options.js'

interface DeployOptions {
  readonly storage: string
  readonly id?: string
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
    .argument('<file>', 'JavaScript that exports handler(event, context)')
    .addHelpText('after', `\nExample:\n  echo '{"n":2}' | fhir-ops bot run twice.js`)
    .action((file: string, options: BotInputOptions) =>
      withEngine({ storage: 'memory' }, io, async (engine) => runBot({ engine, bot: await store(engine, file, 'bot'), file, io }, options)),
    )
}

function deployCommand(io: Io): Command {
  return new Command('deploy')
    .description('Store the bot of a file; one of the same id is replaced.')
    .argument('<file>', 'JavaScript that exports handler(event, context)')
    .addOption(storageOption().makeOptionMandatory())
    .option('--id <id>', 'id of the bot (default: the name of the file)')
    .addHelpText('after', '\nExample:\n  fhir-ops bot deploy twice.js --storage sqlite:content.db')
    .action((file: string, options: DeployOptions) => {
      if (options.storage === 'memory')
        throw new OperationError('parameter-value', 'The content of memory storage is lost when the command ends: name another storage.')
      return withEngine({ storage: options.storage, create: true }, io, async (engine) => {
        io.err(`stored Bot/${await store(engine, file, options.id)}`)
      })
    })
}

/** Stores the bot, and gives its id. What else a stored Bot of this id has, such as identifiers and schemas, stays. */
async function store({ ctx, indexer }: Engine, file: string, given: string | undefined): Promise<string> {
  const id = given ?? basename(file, extname(file))
  if (!isResourceId(id))
    throw new OperationError(
      'parameter-value',
      `${quoted(id)} is not an id, of 1 to 64 letters, digits, hyphens and dots: give another as --id.`,
    )
  const before = await ctx.storage.read('Bot', id)
  const bot = { ...before?.resource, resourceType: 'Bot', id, code: await fileText(file) }
  readBot(bot)
  await ctx.storage.write([putResource({ type: 'Bot', id, source: bot }, indexer)])
  return id
}

async function withEngine(options: EngineOptions, io: Io, work: (engine: Engine) => Promise<void>): Promise<void> {
  const engine = await openEngine(options, io)
  try {
    await work(engine)
  } finally {
    await engine.close()
  }
}
