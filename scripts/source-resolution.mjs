import { sourceEntries, workspacePackages } from './packages.mjs'

/**
 * How the check of the import graph finds modules: packages by their sources, `.js` by `.ts`. Found by the paths of tsconfig.json instead, each import takes
 * several attempts, and the check twice the processor time.
 */
export default {
  resolve: {
    alias: Object.fromEntries(
      workspacePackages().flatMap((pkg) => sourceEntries(pkg).map(([subpath, file]) => [`${pkg.manifest.name}${subpath.slice(1)}$`, file])),
    ),
    extensionAlias: { '.js': ['.ts', '.js'], '.mjs': ['.mts', '.mjs'] },
  },
}
