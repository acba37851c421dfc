import type { Command } from 'commander'
import type { Io } from '../io.js'
import { backupCommand } from './sqlite-file.js'
import { checkCommand } from './sqlite-file.js'
import { demoCommand } from './demo.js'
import { evaluateCommand } from './evaluate.js'
import { executeCommand } from './execute.js'
import { expandCommand } from './expand.js'
import { exportCommand } from './export.js'
import { importCommand } from './import.js'
import { loadCommand } from './load.js'
import { serveCommand } from './serve.js'
import { tokenCommand } from './token.js'
import { translateCommand } from './translate.js'
import { validateCommand } from './validate.js'

/** Every command, in the order of `--help`. */
export const COMMANDS: readonly ((io: Io) => Command)[] = [
  demoCommand,
  serveCommand,
  loadCommand,
  exportCommand,
  importCommand,
  translateCommand,
  expandCommand,
  validateCommand,
  evaluateCommand,
  executeCommand,
  tokenCommand,
  backupCommand,
  checkCommand,
]
