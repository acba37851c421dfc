import { runCommands, type MakeCommand } from '../run-commands.js'

/**
 * Every command, in the order of `--help`. Together they import every package, so only the command that is called is
 * loaded.
 */
const COMMANDS: ReadonlyMap<string, () => Promise<MakeCommand>> = new Map([
  ['demo', async () => (await import('./demo.js')).demoCommand],
  ['serve', async () => (await import('./serve.js')).serveCommand],
  ['mcp', async () => (await import('./mcp.js')).mcpCommand],
  ['load', async () => (await import('./load-and-export.js')).loadCommand],
  ['export', async () => (await import('./load-and-export.js')).exportCommand],
  ['import', async () => (await import('./import.js')).importCommand],
  ['translate', async () => (await import('./codes.js')).translateCommand],
  ['expand', async () => (await import('./value-sets.js')).expandCommand],
  ['lookup', async () => (await import('./codes.js')).lookupCommand],
  ['validate-code', async () => (await import('./codes.js')).validateCodeCommand],
  ['subsumes', async () => (await import('./codes.js')).subsumesCommand],
  ['compare', async () => (await import('./value-sets.js')).compareCommand],
  ['closure', async () => (await import('./value-sets.js')).closureCommand],
  ['validate', async () => (await import('./validate.js')).validateCommand],
  ['ig', async () => (await import('./ig.js')).igCommand],
  ['schema', async () => (await import('./schema-and-snapshot.js')).schemaCommand],
  ['snapshot', async () => (await import('./schema-and-snapshot.js')).snapshotCommand],
  ['evaluate', async () => (await import('./evaluate.js')).evaluateCommand],
  ['data-requirements', async () => (await import('./measure-data.js')).dataRequirementsCommand],
  ['collect-data', async () => (await import('./measure-data.js')).collectDataCommand],
  ['submit-data', async () => (await import('./measure-data.js')).submitDataCommand],
  ['cql', async () => (await import('./cql.js')).cqlCommand],
  ['execute', async () => (await import('./bots.js')).executeCommand],
  ['bot', async () => (await import('./bots.js')).botCommand],
  [
    'shell',
    async () => {
      const { shellCommand } = await import('./shell.js')
      return (io) => shellCommand(io, { commandNamed, run: runCommands })
    },
  ],
  ['token', async () => (await import('./token.js')).tokenCommand],
  ['backup', async () => (await import('./sqlite-file.js')).backupCommand],
  ['check', async () => (await import('./sqlite-file.js')).checkCommand],
  [
    'completion',
    async () => {
      const { completionCommand } = await import('./completion.js')
      return (io) => completionCommand(io, allCommands)
    },
  ],
])

/** Loads all commands, in the order of `--help`. */
export async function allCommands(): Promise<readonly MakeCommand[]> {
  return Promise.all([...COMMANDS.values()].map((load) => load()))
}

/** Loads a command by name; `undefined` if there is none, or if the name is an alias. */
export async function commandNamed(name: string): Promise<MakeCommand | undefined> {
  return COMMANDS.get(name)?.()
}
