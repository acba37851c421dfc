import { Readable } from 'node:stream'
import { Command } from 'commander'
import type { OperationContext } from 'fhir-ops/context'
import { expand } from 'fhir-ops/expand'
import { openEngine } from '../engine.js'
import { knownNames } from '../known-names.js'
import { type Completer, Exit, type Io } from '../io.js'
import type { MakeCommand } from '../run-commands.js'
import { SAMPLE_PATH } from '../files.js'
import { openTranslator } from './measure-command.js'
import { PATIENCE_MS } from './run-operation.js'
import { checkInputIsFree, loadOption, storageOption, wordsOption } from './options.js'

/** Commands that only query, and can therefore share the engine that the shell has opened. */
const ASKING = [
  'translate',
  'expand',
  'lookup',
  'validate-code',
  'subsumes',
  'compare',
  'closure',
  'validate',
  'schema',
  'evaluate',
  'data-requirements',
  'collect-data',
  'cql',
  'execute',
]

/** What the shell needs to run a line. */
interface ShellParts {
  /** Returns the command with a name. */
  readonly commandNamed: (name: string) => Promise<MakeCommand | undefined>
  /** Runs a command line with these commands, and prints errors. */
  readonly run: (commands: readonly MakeCommand[], args: readonly string[], io: Io) => Promise<number>
}

interface ShellOptions {
  readonly storage: string
  readonly load: readonly string[]
  readonly words?: boolean
}

/** `fhir-ops shell`. */
export function shellCommand(io: Io, parts: ShellParts): Command {
  return new Command('shell')
    .description(
      'A prompt for the operations over a storage that stays open, with completion of commands, options, canonicals and codes (Tab).',
    )
    .addOption(storageOption())
    .addOption(loadOption())
    .addOption(wordsOption())
    .addHelpText('after', `\nExample:\n  fhir-ops shell --load ${SAMPLE_PATH}`)
    .action((options: ShellOptions) => shell(options, parts, io))
}

async function shell(options: ShellOptions, { commandNamed, run }: ShellParts, io: Io): Promise<void> {
  checkInputIsFree(options.load, 'the lines of the prompt')
  const engine = await openEngine({ ...options, limits: { operationTimeoutMs: PATIENCE_MS } }, io)
  const translator = openTranslator()
  const shared: Io = { ...io, engine, translator, stdin: async () => '', stdinPieces: () => Readable.from([]) }
  const asking = (await Promise.all(ASKING.map(commandNamed))).filter((make) => make !== undefined)
  const commands = asking.map((make) => make(io))
  const statusOf = async (args: readonly string[]): Promise<number> => {
    if (!args.some((arg) => /^--(?:storage|load)(?:=|$)/.test(arg))) return run(asking, args, shared)
    io.err('error: the storage is that of the shell.')
    return 2
  }
  let isFailed = false
  try {
    io.err(`${ASKING.join(', ')}; exit or Ctrl-D ends, Tab completes`)
    for await (const line of io.lines?.(completerOf(engine.ctx, commands)) ?? []) {
      const args = wordsOf(line)
      if (args[0] === 'exit' || args[0] === 'quit') break
      if (args.length > 0 && (await statusOf(args)) !== 0) isFailed = true
    }
    if (isFailed && io.isPrompting !== true) throw new Exit(1)
  } finally {
    await translator.close()
    await engine.close()
  }
}

/** Splits a line into words like a POSIX shell, without any expansion. */
export function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, '$1$2'))
}

/** Maximum number of words to show. */
const MOST = 100

function completerOf(ctx: OperationContext, commands: readonly Command[]): Completer {
  const known = new Map<string, Promise<readonly string[]>>()
  const canonicals = (type: string): Promise<readonly string[]> => {
    const made = known.get(type) ?? knownNames(ctx, type)
    known.set(type, made)
    return made
  }
  return async (line) => {
    const begun = line.split(/\s/).at(-1) ?? ''
    const [name, ...before] = wordsOf(line.slice(0, line.length - begun.length))
    const starting = (words: readonly string[]): readonly [readonly string[], string] => [
      words.filter((word) => word.startsWith(begun)).slice(0, MOST),
      begun,
    ]
    if (name === undefined) return starting([...ASKING, 'help', 'exit'])
    const options = commands.find((command) => command.name() === name)?.options ?? []
    if (begun.startsWith('-'))
      return starting(options.flatMap(({ long }) => long ?? []).filter((long) => long !== '--storage' && long !== '--load'))
    const type = OPTION_TYPES[before.at(-1) ?? ''] ?? ARGUMENT_TYPES[name]
    if (type === 'code') return starting(await codesOf(ctx, before, begun))
    return starting(type === undefined ? [] : await canonicals(type))
  }
}

/** Type of resource that the value of an option names. */
const OPTION_TYPES: Readonly<Record<string, string>> = {
  '--system': 'CodeSystem',
  '--target-system': 'CodeSystem',
  '--value-set': 'ValueSet',
  '--source': 'ValueSet',
  '--url': 'ConceptMap',
  '--profile': 'StructureDefinition',
}

/** Type of resource that the first argument of a command names. */
const ARGUMENT_TYPES: Readonly<Record<string, string>> = {
  expand: 'ValueSet',
  compare: 'ValueSet',
  schema: 'StructureDefinition',
  evaluate: 'Measure',
  'data-requirements': 'Measure',
  'collect-data': 'Measure',
  execute: 'Bot',
  lookup: 'code',
  'validate-code': 'code',
  subsumes: 'code',
  translate: 'code',
  closure: 'code',
}

/** Returns codes of the system that the line names. */
async function codesOf(ctx: OperationContext, before: readonly string[], begun: string): Promise<readonly string[]> {
  const system = before[before.indexOf('--system') + 1]
  if (!before.includes('--system') || system === undefined) return []
  const valueSet = { resourceType: 'ValueSet', status: 'active', compose: { include: [{ system }] } } as const
  const filter = begun === '' ? {} : { filter: begun }
  const { contains } = await expand(ctx, { valueSet, ...filter, count: MOST }).catch(() => ({ contains: [] }))
  return contains.map(({ code }) => code).filter((code) => code !== undefined)
}
