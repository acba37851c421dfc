import { existsSync, readFileSync } from 'node:fs'
import { getSystemErrorMessage, styleText } from 'node:util'
import { Command, CommanderError, type Option } from 'commander'
import { OperationError } from 'fhir-ops/errors'
import { decodeUtf8, nearest } from 'fhir-ops/internal/text'
import type { ConfigFile } from './config.js'
import { type Io, Exit } from './io.js'
import { unreadable, version } from './files.js'

/** Creates a command that writes to `io`. */
export type MakeCommand = (io: Io) => Command

/**
 * Runs a command line with these commands, and prints errors.
 *
 * @returns The exit status: 0 for success, 1 if the answer is negative or the command failed, 2 for wrong usage.
 */
export async function runCommands(commands: readonly MakeCommand[], args: readonly string[], io: Io): Promise<number> {
  const root = programOf(commands, io)
  try {
    const config = asksAboutUse(args) ? undefined : configFile()
    // Loading the schema validator takes a while.
    if (config !== undefined) (await import('./config.js')).applyConfig(root, config)
    checkOptionNames(programOf(commands, io), args)
    await root.parseAsync([...understood(root, args)], { from: 'user' })
    return 0
  } catch (cause) {
    const command = calledIn(root, args)?.command
    const error = await withStorage(cause, command?.opts()['storage'])
    const status = statusOf(error, io, command?.options ?? [])
    if (error instanceof CommanderError && error.code === 'commander.unknownOption') await hintAtOption(command, args, io)
    if (error instanceof OperationError && io.engine === undefined && lacksContent(error, args)) io.err(ONLY_R4)
    return status
  } finally {
    io.draw?.('')
  }
}

/** Says what there is instead of an option of HL7's validator. */
async function hintAtOption(command: Command | undefined, args: readonly string[], io: Io): Promise<void> {
  if (command === undefined || !VALIDATING.has(command.name())) return
  const hint = (await import('./validate/policy-options.js')).insteadOfOption(args, command.options)
  if (hint !== undefined) io.err(hint)
}

const VALIDATING: ReadonlySet<string> = new Set(['validate', 'ig'])

/** True if only help or the version is asked for, which a wrong file with options must not prevent. */
function asksAboutUse(args: readonly string[]): boolean {
  return ['help', '--version', '-V'].includes(args[0] ?? '') || ['--help', '-h'].includes(args.at(-1) ?? '')
}

/**
 * Returns the arguments with `help token create` as `token create --help`. What follows an unknown command is left out, so that help about it is refused
 * too, instead of printing help about everything.
 */
function understood(root: Command, args: readonly string[]): readonly string[] {
  const path: string[] = []
  let [command, asksForHelp] = [root, false]
  for (const word of args) {
    if (command.commands.length === 0 || word.startsWith('-')) break
    if (word === 'help') {
      asksForHelp = true
      continue
    }
    path.push(word)
    const inner = commandIn(command, word)
    if (inner === undefined) return path
    command = inner
  }
  return asksForHelp ? [...path, '--help'] : args
}

function commandIn(parent: Command, name: string | undefined): Command | undefined {
  return parent.commands.find((command) => name !== undefined && [command.name(), ...command.aliases()].includes(name))
}

/** Returns the command that was called, and the arguments after its name. */
function calledIn(
  root: Command,
  [first, ...rest]: readonly string[],
): { readonly command: Command; readonly rest: readonly string[] } | undefined {
  const command = commandIn(root, first)
  return command && (calledIn(command, rest) ?? { command, rest })
}

/**
 * Reports an unknown option before a missing one, because a user who misspelt `--storage` did pass it. If no option is mandatory, commander does this
 * itself.
 *
 * @param root A program that is not run, because the options are parsed into it.
 */
function checkOptionNames(root: Command, args: readonly string[]): void {
  const called = calledIn(root, args)
  if (called?.command.options.some(({ mandatory }) => mandatory) !== true || args.includes('--help') || args.includes('-h')) return
  const { command, rest } = called
  const wrong = command.parseOptions([...rest]).unknown.find((word) => word.startsWith('-'))
  if (wrong === undefined) return
  const [near] = nearest(
    wrong,
    command.options.flatMap(({ long }) => long ?? []),
  )
  command.error(`error: unknown option '${wrong}'${near === undefined ? '' : `\n(Did you mean ${near}?)`}`)
}

/** Name of the file with options in the current folder. */
const CONFIG_FILE = 'fhir-ops.config.json'

/** True if there is a file with options, or if one is named. */
export function mayHaveConfig(): boolean {
  const named = process.env['FHIR_OPS_CONFIG']
  return named === undefined ? existsSync(CONFIG_FILE) : named !== ''
}

/**
 * Reads the file with options: that in `$FHIR_OPS_CONFIG` (none if it is empty), or else `fhir-ops.config.json` in the current folder.
 *
 * @throws {OperationError} `parameter-value` if it is not UTF-8, and if the file in `$FHIR_OPS_CONFIG` cannot be read.
 */
function configFile(): ConfigFile | undefined {
  const named = process.env['FHIR_OPS_CONFIG']
  const file = named ?? CONFIG_FILE
  if (file === '') return undefined
  try {
    return { file, text: decodeUtf8(readFileSync(file), file) }
  } catch (cause) {
    if (named === undefined && isMissing(cause)) return undefined
    throw cause instanceof OperationError ? new OperationError('parameter-value', cause.message, { cause }) : unreadable(file, cause)
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

const ABOUT_ALL = `
Every command has --help with an example, for instance \`fhir-ops serve --help\`.
Exit status: 0 done, 1 the answer is negative or the command failed, 2 wrong use.`

/** Creates the program with these commands. */
export function programOf(commands: readonly MakeCommand[], io: Io): Command {
  const root = new Command('fhir-ops')
    .description('FHIR R4 operations: serve them over HTTP, or run them from the command line.')
    .version(version())
    .addHelpText('after', ABOUT_ALL)
    // After the name of a command, --version may be an option of that command.
    .enablePositionalOptions()
  for (const make of commands) root.addCommand(make(io))
  return embedded(root, io)
}

/** Makes a command and its subcommands write to `io`, mention --help after an error, and throw where commander would end the process. */
function embedded(command: Command, io: Io): Command {
  for (const inner of command.commands) embedded(inner, io)
  return command
    .configureOutput({
      writeOut: (text) => io.out(text.trimEnd()),
      writeErr: (text) => io.err(text.trimEnd()),
      getOutHasColors: () => io.isTerminal === true,
      getErrHasColors: () => io.isColoured === true,
      outputError: (text, write) => write(text.replace(/^error:/, errorWord(io))),
    })
    .configureHelp({ styleTitle: (text) => styleText('bold', text, PAINTED), styleCommandText: (text) => styleText('cyan', text, PAINTED) })
    .showHelpAfterError('(add --help for more)')
    .exitOverride()
}

const ONLY_R4 = 'Only the definitions of FHIR R4 were looked at: --load FILE and --storage sqlite:FILE add other content.'

/** True if something was not found by a command without any content to search. A code does not count, because its code system was found. */
function lacksContent({ code, detail }: OperationError, args: readonly string[]): boolean {
  return code.endsWith('not-found') && detail.missing?.kind !== 'code' && !args.some((arg) => /^--(?:load|storage|data)(?:=|$)/.test(arg))
}

/** Adds the name of the storage to its error. The storage itself does not name it, because its messages also reach callers over HTTP. */
async function withStorage(error: unknown, option: unknown): Promise<unknown> {
  if (!(error instanceof OperationError && error.code.startsWith('storage-') && typeof option === 'string')) return error
  const place = (await import('./storage.js')).placeOfStorage(option)
  if (place === undefined || error.message.includes(place)) return error
  return new OperationError(error.code, `${place}: ${error.message}`, { ...error.detail, cause: error })
}

function statusOf(error: unknown, io: Io, options: readonly Option[]): number {
  if (error instanceof Exit) return error.status
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof OperationError) {
    io.err(`${errorWord(io)} ${withOptions(error, options)}`)
    return error.code.startsWith('parameter-') ? 2 : 1
  }
  const problem = fileProblem(error)
  if (problem === undefined) throw error
  io.err(`${errorWord(io)} ${problem}`)
  return 1
}

/** Returns the message with code and place; names the options instead of the operation's parameters. */
function withOptions({ message, code, expression }: OperationError, options: readonly Option[]): string {
  const places = expression.map((name) => ({ name, option: optionFor(name, options) ?? name }))
  const said = places.reduce((text, { name, option }) => text.replace(`Parameter '${name}'`, name === option ? '$&' : option), message)
  return `${said} [${code}${places.length === 0 ? '' : ` at ${places.map(({ option }) => option).join(', ')}`}]`
}

function optionFor(parameter: string, options: readonly Option[]): string | undefined {
  const longNameOf = (name: string): string | undefined => options.find((option) => option.attributeName().toLowerCase() === name)?.long
  const name = parameter.toLowerCase()
  // An option that may be repeated is named in the singular.
  return longNameOf(name) ?? longNameOf(name.replace(/s$/, ''))
}

const PAINTED = { validateStream: false } as const

function errorWord({ isColoured = false }: Io): string {
  return isColoured ? styleText(['red', 'bold'], 'error:', PAINTED) : 'error:'
}

/** Describes a system error about a file or folder. For an error on an open file, the system does not say which file. */
function fileProblem(error: unknown): string | undefined {
  if (!(error instanceof Error && 'syscall' in error && 'errno' in error && typeof error.errno === 'number')) return undefined
  const what = 'path' in error ? `${String(error.path === '' ? "''" : error.path)} cannot be used` : `A ${String(error.syscall)} failed`
  return `${what}: ${getSystemErrorMessage(error.errno)}.`
}
