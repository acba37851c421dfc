import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import nodeModule from 'node:module'
import { homedir, platform } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'

/**
 * Keeps the code that V8 has compiled for the next command, which then starts in two thirds of the time. Does nothing where the operator has a folder of their own
 * (`NODE_COMPILE_CACHE`) or wants none (`NODE_DISABLE_COMPILE_CACHE`), and where there is no folder that nobody else can write to: what is in it is run.
 */
export function keepCompiledCode(env: NodeJS.ProcessEnv = process.env): void {
  if (env['NODE_COMPILE_CACHE'] !== undefined || env['NODE_DISABLE_COMPILE_CACHE'] !== undefined) return
  const folder = ownFolder(env)
  if (folder !== undefined) nodeModule.enableCompileCache(folder)
}

/** The folder for compiled code, which is made where there is none; `undefined` where it cannot be made or is not safe from others. */
export function ownFolder(env: NodeJS.ProcessEnv): string | undefined {
  try {
    const root = cacheRoot(env)
    if (!isAbsolute(root)) return undefined
    const folder = join(root, 'fhir-ops')
    // One after the other: to make all that is missing, Node tries forever where a system says that what it has just made is not there, as `/proc` does.
    for (const missing of [root, folder]) if (!existsSync(missing)) mkdirSync(missing, { mode: 0o700 })
    const real = realpathSync(folder)
    return statSync(real).isDirectory() && isSafe(real) ? real : undefined
  } catch {
    // No home, no room, no permission: the command starts as it did without.
    return undefined
  }
}

function cacheRoot(env: NodeJS.ProcessEnv): string {
  const given = platform() === 'win32' ? env['LOCALAPPDATA'] : env['XDG_CACHE_HOME']
  if (given !== undefined && isAbsolute(given)) return given
  return platform() === 'darwin' ? join(homedir(), 'Library', 'Caches') : join(homedir(), '.cache')
}

const WRITABLE_BY_OTHERS = 0o022
/** In such a folder, as `/tmp` is, nobody can rename or delete what is another's. */
const STICKY = 0o1000

/** Whether a folder is the user's own, and no other user but root can write to it or put another in its place. Windows keeps that of the user private. */
function isSafe(folder: string): boolean {
  const user = process.getuid?.()
  if (user === undefined) return true
  const { uid, mode } = statSync(folder)
  return uid === user && (mode & WRITABLE_BY_OTHERS) === 0 && isReplaceableByNobody(dirname(folder), user)
}

function isReplaceableByNobody(folder: string, user: number): boolean {
  const { uid, mode } = statSync(folder)
  const isHeld = (uid === user || uid === 0) && ((mode & WRITABLE_BY_OTHERS) === 0 || (mode & STICKY) !== 0)
  return isHeld && (dirname(folder) === folder || isReplaceableByNobody(dirname(folder), user))
}
