import type { Command } from 'commander'
import type { Io } from '../io.js'
import { lookupCommand, subsumesCommand, translateCommand, validateCodeCommand } from './codes.js'
import { cqlCommand } from './cql.js'
import { botCommand, executeCommand } from './bots.js'
import { completionCommand } from './completion.js'
import { demoCommand } from './demo.js'
import { igCommand } from './ig.js'
import { importCommand } from './import.js'
import { exportCommand, loadCommand } from './load-and-export.js'
import { mcpCommand } from './mcp.js'
import { evaluateCommand } from './evaluate.js'
import { collectDataCommand, dataRequirementsCommand, submitDataCommand } from './measure-data.js'
import { schemaCommand, snapshotCommand } from './schema-and-snapshot.js'
import { serveCommand } from './serve.js'
import { shellCommand } from './shell.js'
import { runCommands } from '../run-commands.js'
import { backupCommand, checkCommand } from './sqlite-file.js'
import { tokenCommand } from './token.js'
import { validateCommand } from './validate.js'
import { closureCommand, compareCommand, expandCommand } from './value-sets.js'

/** Every command, in the order of `--help`. */
export const COMMANDS: readonly ((io: Io) => Command)[] = [
  demoCommand,
  serveCommand,
  mcpCommand,
  loadCommand,
  exportCommand,
  importCommand,
  translateCommand,
  expandCommand,
  lookupCommand,
  validateCodeCommand,
  subsumesCommand,
  compareCommand,
  closureCommand,
  validateCommand,
  igCommand,
  schemaCommand,
  snapshotCommand,
  evaluateCommand,
  dataRequirementsCommand,
  collectDataCommand,
  submitDataCommand,
  cqlCommand,
  executeCommand,
  botCommand,
  (io) => shellCommand(io, { commands: (inner) => COMMANDS.map((make) => make(inner)), run: runCommands }),
  tokenCommand,
  backupCommand,
  checkCommand,
  (io) => completionCommand(io, () => COMMANDS.map((make) => make(io))),
]
