import { readFileSync } from 'node:fs'
import { getSystemErrorMessage, styleText } from 'node:util'
import { Command, CommanderError } from 'commander'
import { OperationError } from 'fhir-ops/errors'
import type { ConfigFile } from './config.js'
import type { Io } from './io.js'
import { Exit } from './exit.js'
import { version } from './version.js'

/** Makes a command that writes to `io`. */
export type MakeCommand = (io: Io) => Command

/** Runs one command line of these commands, and says what went wrong. @returns The exit status: 0 done, 1 the answer is negative or the command failed, 2 wrong use. */
export async function runCommands(commands: readonly MakeCommand[], args: readonly string[], io: Io): Promise<number> {
  try {
    const root = programOf(commands, io)
    const config = configFile()
    // The checker of its schema takes a while to load.
    if (config !== undefined) (await import('./config.js')).applyConfig(root, config)
    await root.parseAsync([...args], { from: 'user' })
    return 0
  } catch (error) {
    const status = statusOf(error, io)
    if (error instanceof OperationError && io.engine === undefined && lacksContent(error, args)) io.err(ONLY_R4)
    return status
  } finally {
    io.draw?.('')
  }
}

/** The file that is looked for where the program is started. */
const CONFIG_FILE = 'fhir-ops.config.json'

/**
 * The file with options: that of `$FHIR_OPS_CONFIG` (none, where that is empty), else `fhir-ops.config.json` in the folder where the program is started.
 *
 * @throws {OperationError} `parameter-value` when the file of `$FHIR_OPS_CONFIG` cannot be read.
 */
function configFile(named: string | undefined = process.env['FHIR_OPS_CONFIG']): ConfigFile | undefined {
  const file = named ?? CONFIG_FILE
  if (file === '') return undefined
  try {
    return { file, text: readFileSync(file, 'utf8') }
  } catch (cause) {
    if (named === undefined && isMissing(cause)) return undefined
    throw new OperationError('parameter-value', `The file ${file} cannot be read.`, { cause })
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

const ABOUT_ALL = `
Every command has --help with an example, for instance \`fhir-ops serve --help\`.
Exit status: 0 done, 1 the answer is negative or the command failed, 2 wrong use.`

/** The program with these commands. */
export function programOf(commands: readonly MakeCommand[], io: Io): Command {
  const root = new Command('fhir-ops')
    .description('FHIR R4 operations: serve them over HTTP, or run them from the command line.')
    .version(version())
    .addHelpText('after', ABOUT_ALL)
  for (const make of commands) root.addCommand(make(io))
  return embedded(root, io)
}

/** Makes a command and those below it write to `io`, name --help after an error, and throw where commander would end the process. */
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

/** Whether something was not found by a command that was given no content to look at. */
function lacksContent({ code }: OperationError, args: readonly string[]): boolean {
  return code.endsWith('not-found') && !args.some((arg) => /^--(?:load|storage|data)(?:=|$)/.test(arg))
}

function statusOf(error: unknown, io: Io): number {
  if (error instanceof Exit) return error.status
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof OperationError) {
    const place = error.expression.length > 0 ? ` at ${error.expression.join(', ')}` : ''
    io.err(`${errorWord(io)} ${error.message} [${error.code}${place}]`)
    return error.code.startsWith('parameter-') ? 2 : 1
  }
  const problem = fileProblem(error)
  if (problem === undefined) throw error
  io.err(`${errorWord(io)} ${problem}`)
  return 1
}

const PAINTED = { validateStream: false } as const

function errorWord({ isColoured = false }: Io): string {
  return isColoured ? styleText(['red', 'bold'], 'error:', PAINTED) : 'error:'
}

/** What the system says of a file or folder that a command was to use; of one that is open it does not say which. */
function fileProblem(error: unknown): string | undefined {
  if (!(error instanceof Error && 'syscall' in error && 'errno' in error && typeof error.errno === 'number')) return undefined
  const what = 'path' in error ? `${String(error.path)} cannot be used` : `A ${String(error.syscall)} failed`
  return `${what}: ${getSystemErrorMessage(error.errno)}.`
}
