import type { Command } from 'commander'
import { allCommands, commandNamed } from './commands/index.js'
import { terminal, type Io } from './io.js'
import { mayHaveConfig, programOf, runCommands, type MakeCommand } from './run-commands.js'

/**
 * Runs one command line.
 *
 * @returns The exit status: 0 done, 1 the answer is negative or the command failed, 2 wrong use.
 */
export async function run(args: readonly string[], io: Io = terminal): Promise<number> {
  return runCommands(await commandsFor(args), args, io)
}

/** The program with every command. */
export async function program(io: Io): Promise<Command> {
  return programOf(await allCommands(), io)
}

/** What a command line has to load: the command that it calls. A file with options is checked by those of all, and a wrong name is answered with the names of all. */
async function commandsFor([name = '']: readonly string[]): Promise<readonly MakeCommand[]> {
  if (mayHaveConfig()) return allCommands()
  if (name === '--version' || name === '-V') return []
  const called = await commandNamed(name)
  return called === undefined ? allCommands() : [called]
}
