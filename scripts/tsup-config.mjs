import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
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
      for (const file of builtModules(join(process.cwd(), 'dist'))) {
        const text = readFileSync(file, 'utf8')
        writeFileSync(file, fromLayers(own.manifest.sideEffects === false ? withoutBareImports(text) : text))
      }
      writeDeclarations(process.cwd(), entries)
    },
    // Binary files are taken as they lie beside the built modules.
    external: [/^node:/, /^[^./]/, /\.bin$/],
  }
}

function builtModules(dist) {
  return readdirSync(dist, { recursive: true })
    .filter((name) => name.endsWith('.js'))
    .map((name) => join(dist, name))
}

/**
 * A built module without `import "./chunk.js"`, of which the bundler writes one for every chunk that something of a module's own graph lies in. Where no
 * module has side effects they do nothing, and finding each costs a process time when it starts: they are most of the imports. Lines stay, for the maps.
 */
function withoutBareImports(text) {
  return text.replace(/^import "\.[^"]*";$/gm, '')
}

/**
 * A built module that imports from a layer of core what it imported from an entry: to find and link the file of an entry takes a process as long as to compile
 * 15 kB, and most packages import a dozen.
 */
function fromLayers(text) {
  return text.replace(/(?<={([^{}]*)} from ")fhir-ops\/[^"]+(?=";$)/gm, (entry, imported) => {
    const layers = layersBehind(entry)
    const wanted = new Set(namesIn(imported).map(([name]) => layers.get(name)))
    const [layer] = wanted
    return wanted.size === 1 && layer !== undefined ? `fhir-ops/layers/${layer}` : entry
  })
}

/** The layer of each name that an entry of core passes on under the name that it has there. */
function layersBehind(entry) {
  const built = readFileSync(createRequire(join(process.cwd(), 'package.json')).resolve(entry), 'utf8')
  return new Map(
    [...built.matchAll(/{([^{}]*)} from "[./]+\/layers\/([\w-]+)\.js";$/gm)].flatMap(([, passed, layer]) =>
      namesIn(passed)
        .filter(([name, as]) => as === undefined || as === name)
        .map(([name]) => [name, layer]),
    ),
  )
}

/** `[name, other name or undefined]` for each in the braces of an import. */
function namesIn(braces) {
  return braces
    .split(',')
    .map((name) => name.trim().split(' as '))
    .filter(([name]) => name !== '')
}
