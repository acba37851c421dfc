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
