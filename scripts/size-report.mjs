// How large each entry of each package is for those who bundle it: minified and compressed, with third-party dependencies, without other packages
// of this project. What is imported on demand is a file of its own and not counted. Fails when an entry is more than 5 % above its budget;
// `--update` writes the present sizes into the budget.
import { readFileSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { root, sourceEntries, workspacePackages } from './packages.mjs'

const BUDGET = join(root, 'scripts', 'size-budget.json')
const GROWTH = 0.05
/** What a page loads that calls one operation, by the entry and the function: bytes that it may take at most, whatever was measured before. */
const CALLS = [
  ['fhir-ops/translate', 'translate', 12_000],
  ['fhir-ops/expand', 'expand', 35_000],
  ['fhir-ops/validate-code', 'validateCode', 38_000],
]
/** What no page loads for a call. */
const KEPT_OUT = {
  'fhir-ops/translate': /packages\/(snomed|loinc-rxnorm)\/|core\/src\/regex\//,
  'fhir-ops/expand': /core\/src\/regex\//,
  'fhir-ops/validate-code': /core\/src\/regex\//,
}

const published = workspacePackages().filter(({ manifest }) => manifest.private !== true)
const budget = JSON.parse(readFileSync(BUDGET, 'utf8'))
const measured = {}
const problems = []
for (const pkg of published) {
  for (const [subpath, file] of sourceEntries(pkg)) {
    const name = pkg.manifest.name + subpath.slice(1)
    measured[name] = await sizeOf(pkg.manifest.name, name, { entryPoints: [file] })
    for (const [, call, most] of CALLS.filter(([entry]) => entry === name)) await measureCall(pkg, { name, file, call, most })
  }
}
if (process.argv.includes('--update')) writeFileSync(BUDGET, `${JSON.stringify(measured, null, 2)}\n`)
else checkAll()
console.log(table())
for (const problem of problems) console.error(`  ${problem}`)
process.exit(problems.length === 0 ? 0 : 1)

async function measureCall(pkg, { name, file, call, most }) {
  const contents = `export { ${call} } from '${file}'`
  const bytes = await sizeOf(pkg.manifest.name, name, { stdin: { contents, resolveDir: root } })
  measured[`${name} { ${call} }`] = bytes
  if (bytes > most) problems.push(`${call} of ${name}: ${kilobytes(bytes)} is above ${kilobytes(most)}, the most that it may be`)
}

async function sizeOf(own, name, input) {
  const { outputFiles, metafile } = await build({
    ...input,
    bundle: true,
    splitting: true,
    write: false,
    minify: true,
    metafile: true,
    format: 'esm',
    target: 'es2023',
    platform: 'neutral',
    mainFields: ['browser', 'module', 'main'],
    conditions: ['browser', 'import', 'default'],
    loader: { '.wasm': 'empty' },
    outdir: root,
    logLevel: 'error',
    external: ['node:*', ...builtinModules, ...externals(own)],
  })
  const loaded = loadedFiles(metafile.outputs, input.stdin === undefined ? relative(process.cwd(), input.entryPoints[0]) : '<stdin>')
  const reached = loaded
    .flatMap((path) => Object.entries(metafile.outputs[path].inputs))
    .flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 && KEPT_OUT[name]?.test(file) ? [file] : []))
  if (reached.length > 0) problems.push(`${name}: must not reach ${reached[0]}`)
  const contents = outputFiles.filter(({ path }) => loaded.includes(relative(process.cwd(), path))).map((file) => file.contents)
  return contents.reduce((sum, content) => sum + gzipSync(content, { level: 9 }).length, 0)
}

/** The file of the entry and all that it imports, without what is imported on demand, also by functions that the entry does not need. */
function loadedFiles(outputs, entry) {
  const loaded = new Set(Object.keys(outputs).filter((path) => outputs[path].entryPoint === entry))
  for (const path of loaded) for (const one of importsOf(outputs[path])) loaded.add(one)
  return [...loaded]
}

function importsOf({ imports }) {
  return imports.filter(({ kind, external }) => kind === 'import-statement' && external !== true).map(({ path }) => path)
}

/** Peers, which the user chooses, and what is counted under its own name. */
function externals(own) {
  const peers = published.find(({ manifest }) => manifest.name === own)?.manifest.peerDependencies ?? {}
  return [...Object.keys(peers), ...published.map(({ manifest }) => manifest.name)].flatMap((name) => [name, `${name}/*`])
}

function checkAll() {
  for (const [name, bytes] of Object.entries(measured)) check(name, bytes)
  for (const name of Object.keys(budget).filter((known) => !(known in measured)))
    problems.push(`${name}: is in the budget and no entry any more; run with --update`)
}

function check(name, bytes) {
  const allowed = budget[name]
  if (allowed === undefined) problems.push(`${name}: has no budget; run with --update`)
  else if (bytes > allowed * (1 + GROWTH))
    problems.push(`${name}: ${kilobytes(bytes)}, ${percent(bytes / allowed - 1)} above its budget of ${kilobytes(allowed)}`)
}

function table() {
  const rows = Object.entries(measured).map(([name, bytes]) => [
    name,
    kilobytes(bytes),
    budget[name] === undefined ? 'new' : percent(bytes / budget[name] - 1),
  ])
  const widths = [0, 1, 2].map((i) => Math.max(...rows.map((row) => row[i].length)))
  return rows.map((row) => `  ${row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  ')}`).join('\n')
}

function kilobytes(bytes) {
  return `${(bytes / 1000).toFixed(1)} kB`
}

function percent(share) {
  return `${share < 0 ? '' : '+'}${(share * 100).toFixed(1)} %`
}
