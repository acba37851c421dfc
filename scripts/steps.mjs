// Runs commands one after the other, each with its name, its output and its time.
import { spawnSync } from 'node:child_process'
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

function run(name, [program, ...args], { env, stdio }) {
  const start = Date.now()
  console.log(`\n▸ ${name}`)
  const bin = join(root, 'node_modules', '.bin')
  const { status, error } = spawnSync(program, args, {
    cwd: root,
    stdio,
    env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}`, ...env },
    shell: process.platform === 'win32',
  })
  const seconds = ((Date.now() - start) / 1000).toFixed(1)
  if (error) console.error(`  ${error.message}`)
  console.log(status === 0 ? `  ${name}: ${seconds} s` : `✗ ${name} failed after ${seconds} s`)
  return status === 0
}
