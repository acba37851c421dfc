import type { Command } from 'commander'
import { allCommands, commandNamed } from './commands/index.js'
import { terminal, type Io } from './io.js'
import { mayHaveConfig, programOf, runCommands, type MakeCommand } from './run-commands.js'

/**
 * Runs a command line.
 *
 * @returns The exit status: 0 for success, 1 if the answer is negative or the command failed, 2 for wrong usage.
 */
export async function run(args: readonly string[], io: Io = terminal): Promise<number> {
  return runCommands(await commandsFor(args), args, io)
}

/** Creates the program with all commands. */
export async function program(io: Io): Promise<Command> {
  return programOf(await allCommands(), io)
}

/**
 * Loads the command that is called. All commands are loaded if there is a file with options, which is checked against all, or if the name is wrong,
 * because the error lists all names.
 */
async function commandsFor([name = '']: readonly string[]): Promise<readonly MakeCommand[]> {
  if (mayHaveConfig()) return allCommands()
  if (name === '--version' || name === '-V') return []
  const called = await commandNamed(name)
  return called === undefined ? allCommands() : [called]
}
