import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import nodeModule from 'node:module'
import { homedir, platform } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'

const OLDEST: readonly [number, number] = [22, 13]

/** Describes why this version of Node is not supported; `undefined` if it is new enough (`engines` in the manifest). */
export function runtimeProblem(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isNewEnough = major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])
  return isNewEnough ? undefined : `fhir-ops needs Node ${OLDEST.join('.')} or later, and this is ${version}.`
}

/**
 * Settings of the C library's allocator: blocks of 1 MB or more are mapped separately, so that they are returned to the system when freed, and at most
 * 2 MB of smaller ones stay free at the end of each arena. By default, it keeps blocks of up to 32 MB once it has freed one, and 64 MB at the end of each
 * arena, of which every thread may have one: a server would keep forever what it once needed for large bodies and answers.
 */
const SETTINGS = { MALLOC_MMAP_THRESHOLD_: String(1024 * 1024), MALLOC_TRIM_THRESHOLD_: String(2 * 1024 * 1024) }

/**
 * All threads share one arena, because memory that one thread has freed in its own arena is of no use to the others. The thread that writes to SQLite
 * leaves 18 MB behind, and 33 MB more with an arena per thread. Requests take the same processor time.
 */
const AREAS = { MALLOC_ARENA_MAX: '1' }

/**
 * Restarts the command in the same process with these allocator settings, which are read only when a program starts, so that memory of large requests is
 * returned to the system. Does nothing if one of them is already set, by the operator or by this function; on systems other than Linux; before Node
 * 22.15; if Node may not start programs; and if the parent process communicates with this one, because the channel would be closed.
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
 * Caches the code that V8 has compiled, so that the next command starts in two thirds of the time. Does nothing if the operator has chosen a folder
 * (`NODE_COMPILE_CACHE`) or disabled the cache (`NODE_DISABLE_COMPILE_CACHE`), or if there is no folder to which nobody else can write, because its
 * content is executed.
 */
export function keepCompiledCode(): void {
  const { env } = process
  if (env['NODE_COMPILE_CACHE'] !== undefined || env['NODE_DISABLE_COMPILE_CACHE'] !== undefined) return
  const folder = ownFolder(env)
  if (folder !== undefined) nodeModule.enableCompileCache(folder)
}

/** Returns the folder for compiled code, creating it if necessary; `undefined` if it cannot be created or is not safe from other users. */
export function ownFolder(env: NodeJS.ProcessEnv): string | undefined {
  try {
    const root = cacheRoot(env)
    if (!isAbsolute(root)) return undefined
    const folder = join(root, 'fhir-ops')
    // Created one after the other: with `recursive`, Node retries forever if the system reports that a folder just created does not exist, as `/proc` does.
    for (const missing of [root, folder]) if (!existsSync(missing)) mkdirSync(missing, { mode: 0o700 })
    const real = realpathSync(folder)
    return statSync(real).isDirectory() && isSafe(real) ? real : undefined
  } catch {
    // Without a home folder, disk space or permission, the command starts without a cache.
    return undefined
  }
}

function cacheRoot(env: NodeJS.ProcessEnv): string {
  const given = platform() === 'win32' ? env['LOCALAPPDATA'] : env['XDG_CACHE_HOME']
  if (given !== undefined && isAbsolute(given)) return given
  return platform() === 'darwin' ? join(homedir(), 'Library', 'Caches') : join(homedir(), '.cache')
}

const WRITABLE_BY_OTHERS = 0o022
/** In a sticky folder such as `/tmp`, users cannot rename or delete what belongs to others. */
const STICKY = 0o1000

/** True if a folder belongs to the user, and no other user except root can write to it or replace it. On Windows, the user's folder is private. */
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
