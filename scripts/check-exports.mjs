// Every exported symbol has a docstring, no entry re-exports wholesale, and every subpath that a docstring or page names exists.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import ts from 'typescript'
import { root, sourceEntries, workspacePackages } from './packages.mjs'

const packages = workspacePackages().filter(({ dir }) => relative(root, dir).startsWith('packages'))
const entries = packages.flatMap((pkg) =>
  sourceEntries(pkg).map(([subpath, file]) => ({ name: pkg.manifest.name + subpath.slice(1), file })),
)
const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path))
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
const program = ts.createProgram(
  entries.map(({ file }) => file),
  options,
)
const checker = program.getTypeChecker()

const problems = [...entries.flatMap(undocumented), ...entries.flatMap(wholesale), ...deadSubpaths()]
for (const problem of problems) console.error(`  ${problem}`)
process.exit(problems.length === 0 ? 0 : 1)

function undocumented({ name, file }) {
  const source = program.getSourceFile(file)
  const module = source && checker.getSymbolAtLocation(source)
  if (module === undefined) return []
  return checker
    .getExportsOfModule(module)
    .filter((symbol) => target(symbol).getDocumentationComment(checker).length === 0 && target(symbol).getJsDocTags(checker).length === 0)
    .map((symbol) => `${name}: ${symbol.name} has no docstring`)
}

function target(symbol) {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
}

function wholesale({ name, file }) {
  return /^export \*/m.test(readFileSync(file, 'utf8')) ? [`${name}: lists its exports with a star`] : []
}

function deadSubpaths() {
  const known = new Set(entries.map(({ name }) => name))
  const places = [...files(join(root, 'packages'), /\.ts$/), ...files(join(root, 'docs'), /\.md$/), join(root, 'README.md')]
  return places.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/from '((?:@fhir-ops\/|fhir-ops)[\w/-]*)'/g)]
      .filter(([, name]) => !known.has(name))
      .map(([, name]) => `${relative(root, file)}: there is no ${name}`),
  )
}

function files(dir, wanted) {
  return readdirSync(dir, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && wanted.test(entry.name) && !/node_modules|dist/.test(entry.parentPath))
    .map((entry) => join(entry.parentPath, entry.name))
}
