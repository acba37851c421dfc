import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { installDebian } from './debian.js'

const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome']

/** What Chromium is started with in tests: no sandbox where the user is root, and no calls of its own to its makers. */
export const CHROMIUM_ARGS: readonly string[] = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** A Chromium of the machine, or of Debian where this may be installed; `undefined` where neither is possible. `CHROMIUM` names another one. */
export function chromium(): string | undefined {
  return process.env['CHROMIUM'] ?? onPath() ?? (installDebian(['chromium'], 'command -v chromium') ? onPath() : undefined)
}

function onPath(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return PROGRAMS.flatMap((program) => folders.map((folder) => join(folder, program))).find((file) => existsSync(file))
}
