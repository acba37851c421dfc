import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import nodeModule from 'node:module'
import { homedir, platform } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'

const OLDEST: readonly [number, number] = [22, 13]

/** What is wrong with this version of Node; `undefined` when it is new enough (`engines` in the manifest). */
export function runtimeProblem(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isNewEnough = major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])
  return isNewEnough ? undefined : `fhir-ops needs Node ${OLDEST.join('.')} or later, and this is ${version}.`
}

/**
 * From 1 MB on a block of the C library's allocator is mapped by itself, so that the system has it back when it is freed; of what is smaller at most
 * 2 MB stay free at the end of each of its areas. By itself it keeps blocks of up to 32 MB once it has freed one, and 64 MB at the end of each area,
 * of which every thread may have one: what a server has once held for large bodies and answers it would hold forever.
 */
const SETTINGS = { MALLOC_MMAP_THRESHOLD_: String(1024 * 1024), MALLOC_TRIM_THRESHOLD_: String(2 * 1024 * 1024) }

/**
 * All threads share one area, as what one of them has freed is no use to the others in areas of their own: what the thread that writes to SQLite leaves behind
 * is 18 MB, and with an area for each thread it is 33 MB more. Requests take the same processor time.
 */
const AREAS = { MALLOC_ARENA_MAX: '1' }

/**
 * Starts the command that is being run again, in the same process, with an allocator that gives back what large requests have taken: it reads its settings only
 * when a program starts. Does nothing where one of them is set already, by the operator or by this; on other systems than Linux; before Node 22.15; where
 * Node must not start programs; and for a parent that talks to this process, as the channel would be closed.
 */
export function startWithModestAllocator(): void {
  const { platform, permission, env, execPath, execArgv, argv } = process
  if (platform !== 'linux' || process.execve === undefined || process.send !== undefined) return
  if (permission?.has('child') === false || isAllocatorSet(env)) return
  process.execve(execPath, [execPath, ...execArgv, ...argv.slice(1)], { ...AREAS, ...env, ...SETTINGS })
}

function isAllocatorSet(env: NodeJS.ProcessEnv): boolean {
  return Object.keys(SETTINGS).some((name) => env[name] !== undefined) || (env['GLIBC_TUNABLES']?.includes('glibc.malloc.') ?? false)
}

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
