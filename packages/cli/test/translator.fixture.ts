import { openTranslator } from '../src/commands/measure-command.js'

/** One for the commands of all test files of a process, as in a shell: each would load its own for two seconds. Its thread does not keep the process. */
export const translator: ReturnType<typeof openTranslator> = openTranslator()
