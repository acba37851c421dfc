import type { Command } from './command.js'
import { hasSystem, listSystems, publishSystem, putSection, readSection, removeSystem, stageSystem } from './concept-commands.js'
import { searchPage, countMatches } from './search-page.js'
import { readResource } from './resource-row.js'
import { addSession, changeSession, endOthers, purgeSessions, readSession, sessionsOf } from './session-commands.js'
import { changeUser, putUser, readUser } from './user-commands.js'
import { writeEntries } from './write-entries.js'

const ALL: readonly Command<unknown, unknown>[] = [
  readResource,
  searchPage,
  countMatches,
  writeEntries,
  readUser,
  putUser,
  changeUser,
  addSession,
  readSession,
  sessionsOf,
  changeSession,
  endOthers,
  purgeSessions,
  listSystems,
  hasSystem,
  readSection,
  stageSystem,
  putSection,
  publishSystem,
  removeSystem,
]

/** Every command by its name, for threads that get names. */
export const COMMANDS: ReadonlyMap<string, Command<unknown, unknown>> = new Map(ALL.map((command) => [command.name, command]))
