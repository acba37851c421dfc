import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const BUILT = fileURLToPath(new URL('../dist/index.js', import.meta.url))

/** Runs a bot, and prints the priorities of the threads of the process. */
const PROGRAM = `
import { readdirSync, readFileSync } from 'node:fs'
import { openBotSandbox } from ${JSON.stringify(BUILT)}
const sandbox = openBotSandbox()
await sandbox.check('export default () => 1')
const task = (id) => readFileSync('/proc/self/task/' + id + '/stat', 'utf8')
const nice = readdirSync('/proc/self/task').map((id) => Number(task(id).split(') ')[1].split(' ')[16]))
console.log(JSON.stringify([...new Set(nice)].sort()))
await sandbox.close()`

test.runIf(process.platform === 'linux').each([
  [0, 10],
  [5, 10],
  [15, 15],
])('threads of bots in a process with a nice of %d more have a nice of %d at least', (more, least) => {
  const args = ['-n', String(more), process.execPath, '--input-type=module', '-e', PROGRAM]
  const priorities: readonly number[] = JSON.parse(execFileSync('nice', args, { encoding: 'utf8' }))
  const own = Math.min(...priorities)
  expect(Math.max(...priorities)).toBe(Math.max(own, 10))
  expect(Math.max(...priorities)).toBeGreaterThanOrEqual(least)
})
