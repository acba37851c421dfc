import { getSystemErrorMessage } from 'node:util'
import { Command, CommanderError } from 'commander'
import { OperationError } from 'fhir-ops/errors'
import { terminal, type Io } from './io.js'
import { COMMANDS } from './commands/index.js'
import { Exit } from './exit.js'
import { version } from './version.js'

/**
 * Runs one command line.
 *
 * @returns The exit status: 0 done, 1 the answer is negative or the command failed, 2 wrong use.
 */
export async function run(args: readonly string[], io: Io = terminal): Promise<number> {
  try {
    await program(io).parseAsync([...args], { from: 'user' })
    return 0
  } catch (error) {
    const status = statusOf(error, io)
    if (error instanceof OperationError && lacksContent(error, args)) io.err(ONLY_R4)
    return status
  }
}

const ABOUT_ALL = `
Every command has --help with an example, for instance \`fhir-ops serve --help\`.
Exit status: 0 done, 1 the answer is negative or the command failed, 2 wrong use.`

function program(io: Io): Command {
  const root = new Command('fhir-ops')
    .description('FHIR R4 operations: serve them over HTTP, or run them from the command line.')
    .version(version())
    .addHelpText('after', ABOUT_ALL)
  for (const make of COMMANDS) root.addCommand(make(io))
  return embedded(root, io)
}

/** Makes a command and those below it write to `io`, name --help after an error, and throw where commander would end the process. */
function embedded(command: Command, io: Io): Command {
  for (const inner of command.commands) embedded(inner, io)
  return command
    .configureOutput({ writeOut: (text) => io.out(text.trimEnd()), writeErr: (text) => io.err(text.trimEnd()) })
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
    io.err(`error: ${error.message} [${error.code}${place}]`)
    return error.code.startsWith('parameter-') ? 2 : 1
  }
  const problem = fileProblem(error)
  if (problem === undefined) throw error
  io.err(`error: ${problem}`)
  return 1
}

/** What the system says of a file or folder that a command was to use; of one that is open it does not say which. */
function fileProblem(error: unknown): string | undefined {
  if (!(error instanceof Error && 'syscall' in error && 'errno' in error && typeof error.errno === 'number')) return undefined
  const what = 'path' in error ? `${String(error.path)} cannot be used` : `A ${String(error.syscall)} failed`
  return `${what}: ${getSystemErrorMessage(error.errno)}.`
}
