import { relative } from 'node:path'
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
    onSuccess: async () => writeDeclarations(process.cwd(), entries),
    // Binary files are taken as they lie beside the built modules.
    external: [/^node:/, /^[^./]/, /\.bin$/],
  }
}
