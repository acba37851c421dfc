// What our packages need to know of the process that runs them, to read the files next to their code and to start them as threads.

/**
 * Describes an error of reading a file of a package, or of starting it as a thread, whose reason is in the process or its installation: a file that is
 * not next to the package's code, as in a bundle, which contains only the code; a current folder that was removed, without which Node starts no
 * thread; too many open files. `undefined` for any other error.
 */
export function packageFileProblem(error: unknown, packageName: string): string | undefined {
  if (!(error instanceof Error && 'code' in error)) return undefined
  if (error.message.includes('uv_cwd'))
    return 'The current folder of the process was removed, so it can start no thread: start it in another folder.'
  if (/\bE[MN]FILE\b|too many open files/.test(error.message)) return 'The process, or the system, has too many open files (ulimit -n).'
  // A bundle in CommonJS has no `import.meta.url`.
  if (!['ENOENT', 'MODULE_NOT_FOUND', 'ERR_INVALID_URL'].includes(String(error.code))) return undefined
  return `The files of ${packageName} are not next to its code. Leave the package out of the bundle, as an external one; in a clone, build it.`
}

/** The members of Node's `process` that are used. */
interface NodeProcess {
  readonly versions: Readonly<Record<string, string | undefined>>
  getBuiltinModule(name: 'node:module'): { createRequire(from: string): { resolve(name: string): string } }
  getBuiltinModule(name: 'node:url'): { pathToFileURL(path: string): URL }
}

/**
 * Returns the `execArgv` of a thread that is not to have those of the process: none, unless Yarn keeps packages in archives (Plug'n'Play). There, files in
 * archives are found only with the hooks that Yarn puts into the process, which the thread needs as well.
 *
 * @param from URL of a module of the package.
 */
export function threadArguments(host: NodeProcess, from: string): string[] {
  if (host.versions['pnp'] === undefined) return []
  const hooks = host.getBuiltinModule('node:module').createRequire(from).resolve('pnpapi')
  const loader = host.getBuiltinModule('node:url').pathToFileURL(hooks.replace(/\.cjs$/, '.loader.mjs'))
  return ['--require', hooks, '--experimental-loader', loader.href]
}
