import type { Command } from './command.js'
import { publishSystem, putSection, removeSystem, stageSystem } from './concept-commands.js'
import { readHistory } from './history.js'
import { makeIndexesLeftOut } from '../database/migrations.js'
import { scanPage } from '../search/scan.js'
import { countMatches, searchPage } from '../search/search-page.js'
import { addSession, changeSession, endOthers, purgeSessions, useOnce, changeUser, putUser } from './session-commands.js'
import { writeEntries } from './write-entries.js'

/** Commands of the lane `point` are not sent to threads. */
const SENT: readonly Command<unknown, unknown>[] = [
  searchPage,
  scanPage,
  countMatches,
  readHistory,
  writeEntries,
  makeIndexesLeftOut,
  putUser,
  changeUser,
  addSession,
  changeSession,
  endOthers,
  useOnce,
  purgeSessions,
  stageSystem,
  putSection,
  publishSystem,
  removeSystem,
]

/** Commands that run in threads, by the names sent to the threads. */
export const COMMANDS: ReadonlyMap<string, Command<unknown, unknown>> = new Map(SENT.map((command) => [command.name, command]))
