import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { writeDeclarations } from './declarations.mjs'
import { sourceEntries, workspacePackages } from './packages.mjs'

/** The one build recipe: an entry per line of the package's exports map, plus `extra` entries that are not exported (workers, binaries). */
export function tsupConfig(extra = []) {
  const own = workspacePackages().find(({ dir }) => dir === process.cwd())
  if (own === undefined) throw new Error(`${process.cwd()} is not a workspace package`)
  const src = (file) => relative(process.cwd(), file)
  const entries = sourceEntries(own)
  const exported = entries.map(([, file]) => src(file))
  const entry = Object.fromEntries([...exported, ...extra].map((file) => [file.replace(/^src\//, '').replace(/\.ts$/, ''), file]))
  return {
    entry,
    format: ['esm'],
    target: 'es2023',
    platform: 'neutral',
    splitting: true,
    sourcemap: true,
    clean: true,
    // node:sqlite has no name without the prefix.
    removeNodeProtocol: false,
    dts: false,
    onSuccess: async () => {
      if (own.manifest.sideEffects === false) dropBareImports(join(process.cwd(), 'dist'))
      writeDeclarations(process.cwd(), entries)
    },
    // Binary files are taken as they lie beside the built modules.
    external: [/^node:/, /^[^./]/, /\.bin$/],
  }
}

/**
 * Takes `import "./chunk.js"` out of the built modules, of which the bundler writes one for every chunk that something of a module's own graph lies in. Where no
 * module has side effects they do nothing, and finding each costs a process time when it starts: they are most of the imports. Lines stay, for the maps.
 */
function dropBareImports(dist) {
  for (const name of readdirSync(dist, { recursive: true })) {
    if (!name.endsWith('.js')) continue
    const [file, text] = [join(dist, name), readFileSync(join(dist, name), 'utf8')]
    writeFileSync(file, text.replace(/^import "\.[^"]*";$/gm, ''))
  }
}
