// The workspace's packages and the source file behind each entry of their exports maps.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')

/** Every workspace package below `packages/` and `examples/`: its folder, manifest and name. */
export function workspacePackages() {
  return ['packages', 'examples'].flatMap((parent) =>
    readdirSync(join(root, parent), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && existsSync(join(root, parent, entry.name, 'package.json')))
      .map((entry) => {
        const dir = join(root, parent, entry.name)
        return { dir, manifest: JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')) }
      }),
  )
}

/** What is installed or built: their links lead to hundreds of thousands of files. */
const NOT_OURS = new Set(['node_modules', 'dist'])

/** The files of our own below a folder, in the order of their names. */
export function filesBelow(dir) {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name)
    if (!entry.isDirectory()) return [path]
    return NOT_OURS.has(entry.name) ? [] : filesBelow(path)
  })
}

/** The sources of the packages: those in their `src`, tests and fixtures too. */
export function sourceFiles() {
  return filesBelow(join(root, 'packages')).filter((file) => file.endsWith('.ts') && file.includes(`${sep}src${sep}`))
}

/** `[subpath, source file]` for each built entry of a manifest's exports map (`./dist/x.js` is built from `src/x.ts`), patterns written out. */
export function sourceEntries({ dir, manifest }) {
  return Object.entries(manifest.exports ?? {})
    .filter(([, target]) => typeof target === 'object' && target.default?.startsWith('./dist/'))
    .map(([subpath, target]) => [subpath, join(dir, target.default.replace('./dist/', 'src/').replace(/\.js$/, '.ts'))])
    .flatMap(([subpath, file]) => (subpath.includes('*') ? matches(subpath, file) : [[subpath, file]]))
}

/** A star stands for one folder. */
function matches(subpath, file) {
  const [before, after] = file.split('*')
  return readdirSync(before, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(before + entry.name + after))
    .map(({ name }) => [subpath.replace('*', name), before + name + after])
}
