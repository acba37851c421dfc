// Runs commands, each with its name, its output and its time.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, openSync, closeSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { root } from './packages.mjs'

/** The pnpm that the lockfile was made with, fetched by npm so that only Node and npm have to be installed. */
export const PNPM = ['npx', '--yes', 'pnpm@12.21.0']

/** Runs one step; `true` when it succeeded. Programs of the workspace, its Node above all, come before those of the machine. */
export function step(name, command, env = {}) {
  return run(name, command, { env, stdio: 'inherit' })
}

/** As `step`, with the output in a file, which is named when the step fails. */
export function quietStep(name, command, log) {
  mkdirSync(dirname(log), { recursive: true })
  const file = openSync(log, 'w')
  const succeeded = run(name, command, { env: {}, stdio: ['inherit', file, file] })
  closeSync(file)
  if (!succeeded) console.error(`  The output is in ${log}.`)
  return succeeded
}

/**
 * Runs steps side by side, so many at a time, and shows what each has written when it has ended.
 *
 * @param steps Name and command of each.
 * @returns The names of those that failed, in the order of the steps.
 */
export async function stepsSideBySide(steps, { atOnce }) {
  const waiting = steps.map(([name, command]) => ({ name, command }))
  const failed = new Set()
  const lane = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) if (!(await captured(next))) failed.add(next.name)
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
  return steps.map(([name]) => name).filter((name) => failed.has(name))
}

function captured({ name, command: [program, ...args] }) {
  const start = Date.now()
  const written = []
  const child = spawn(program, args, optionsOf({ env: {}, stdio: ['ignore', 'pipe', 'pipe'] }))
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => written.push(bytes))
  let error
  child.once('error', (problem) => (error = problem))
  return new Promise((resolve) => {
    child.once('close', (status) => {
      console.log(`\n▸ ${name}`)
      process.stdout.write(Buffer.concat(written))
      resolve(reported(name, start, { status, error }))
    })
  })
}

function run(name, [program, ...args], options) {
  const start = Date.now()
  console.log(`\n▸ ${name}`)
  return reported(name, start, spawnSync(program, args, optionsOf(options)))
}

function optionsOf({ env, stdio }) {
  const bin = join(root, 'node_modules', '.bin')
  return {
    cwd: root,
    stdio,
    env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}`, ...env },
    shell: process.platform === 'win32',
  }
}

function reported(name, start, { status, error }) {
  const seconds = ((Date.now() - start) / 1000).toFixed(1)
  if (error) console.error(`  ${error.message}`)
  console.log(status === 0 ? `  ${name}: ${seconds} s` : `✗ ${name} failed after ${seconds} s`)
  return status === 0
}
