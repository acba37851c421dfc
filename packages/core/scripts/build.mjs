// Builds core: a small file for each entry of its exports map, and a few files that hold the code, one for each layer. To find, read and link a file takes Node about as
// long as to compile 15 kB, and who imports the handler loads them all.
import { rmSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { writeDeclarations } from '../../../scripts/declarations.mjs'
import { sourceEntries, workspacePackages } from '../../../scripts/packages.mjs'
import { asciiOnly } from './ascii-only.mjs'
import { pureConstants } from './pure-constants.mjs'

/** Folders of `src` by the file that they are built into. Each imports from those before it only. */
const LAYERS = {
  foundations: 'bits errors explain input json text work telemetry storage code-system content context parameters operation model'.split(
    ' ',
  ),
  // What lists codes loads it when a filter has a pattern.
  regex: ['regex'],
  search: ['search', 'fhirpath', 'memory', 'ucum', 'tenants'],
  terminology: ['terminology'],
  codes: ['translate', 'expand', 'lookup', 'validate-code', 'subsumes', 'closure', 'compare'],
  validate: ['validate', 'snapshot', 'schema', 'cross-version'],
  services: ['execute', 'sessions', 'hl7v2', 'packages'],
  measures: ['evaluate'],
}
/** Files that are in another layer than their folder. */
const ELSEWHERE = {
  // What is known of operations whose layer is loaded by their first call: a file of its own, so that no other leads to that layer.
  descriptors: [
    ...'translate expand lookup subsumes closure compare validate snapshot evaluate'
      .split(' ')
      .map((folder) => `src/${folder}/operation.ts`),
    'src/validate-code/operations.ts',
    'src/validate/options-header.ts',
    'src/evaluate/measure-operations.ts',
    'src/evaluate/languages/language.ts',
    'src/terminology/capabilities.ts',
  ],
  // What models of types are made with.
  foundations: ['src/fhirpath/model.ts'],
}
/** Files in no layer: what is loaded on demand with a library for signatures, entries that lead to several layers, and the entry of a layer with one. */
const OUTSIDE = ['src/validate/rules/signature/check-jws.ts', 'src/index.ts', 'src/operations/index.ts', 'src/regex/index.ts']

const home = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const dist = join(home, 'dist')
const layers = new Map(Object.entries(LAYERS).flatMap(([layer, folders]) => folders.map((folder) => [folder, layer])))
const entries = sourceEntries(workspacePackages().find(({ dir }) => dir === home))

rmSync(dist, { recursive: true, force: true })
const bundle = await rolldown({
  input: Object.fromEntries(entries.map(([, file]) => [relative(join(home, 'src'), file).replace(/\.ts$/, ''), file])),
  cwd: home,
  platform: 'neutral',
  // Groups that take no more than their own files demand it; entries have no code, so none gets another export.
  preserveEntrySignatures: 'allow-extension',
  external: [/^[^./]/],
  // As `sideEffects` of package.json says.
  treeshake: { moduleSideEffects: false },
  transform: { target: 'es2023' },
  plugins: [pureConstants(), asciiOnly()],
})
const { output } = await bundle.write({
  dir: dist,
  format: 'esm',
  sourcemap: true,
  entryFileNames: '[name].js',
  chunkFileNames: 'layers/[name].js',
  // Our other packages are built with the names of these files.
  minifyInternalExports: false,
  comments: { annotation: true, legal: true, jsdoc: false },
  codeSplitting: { includeDependenciesRecursively: false, groups: [{ debugName: 'layers', name: layerOf }] },
})
await bundle.close()
checkLayers(output.filter(({ type }) => type === 'chunk'))
writeDeclarations(home, entries)

function layerOf(id) {
  const path = relative(home, id)
  if (OUTSIDE.some((file) => path === join(...file.split('/')))) return null
  const elsewhere = Object.entries(ELSEWHERE).find(([, files]) => files.some((file) => path === join(...file.split('/'))))
  if (elsewhere !== undefined) return elsewhere[0]
  const layer = layers.get(path.split(/[/\\]/)[1])
  if (layer === undefined) throw new Error(`${path} is in no layer of scripts/build.mjs.`)
  return layer
}

/** Files that import each other would be evaluated in an order that depends on who imports them. */
function checkLayers(chunks) {
  const names = Object.keys(LAYERS).map((layer) => `layers/${layer}.js`)
  for (const { fileName, imports } of chunks) {
    const at = names.indexOf(fileName)
    const wrong =
      at < 0 ? undefined : imports.find((name) => name.endsWith('.js') && !names.slice(0, at).includes(name) && names.includes(name))
    if (wrong !== undefined) throw new Error(`${fileName} imports ${wrong}, which is of a later layer.`)
  }
}
