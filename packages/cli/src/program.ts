import type { Command } from 'commander'
import { COMMANDS } from './commands/index.js'
import { terminal, type Io } from './io.js'
import { programOf, runCommands } from './run-commands.js'

/**
 * Runs one command line.
 *
 * @returns The exit status: 0 done, 1 the answer is negative or the command failed, 2 wrong use.
 */
export async function run(args: readonly string[], io: Io = terminal): Promise<number> {
  return runCommands(COMMANDS, args, io)
}

/** The program with every command. */
export function program(io: Io): Command {
  return programOf(COMMANDS, io)
}
