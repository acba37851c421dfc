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

/** All threads besides the first share one area: with areas of their own a server over SQLite holds 33 MB more under load, most of it free. */
const AREAS = { MALLOC_ARENA_MAX: '2' }

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
