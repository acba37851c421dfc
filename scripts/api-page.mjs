// Writes docs/api.md: the entries of the published packages, and what each exports. `check-exports.mjs` fails when a name is missing there.
import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import ts from 'typescript'
import { root, sourceEntries, workspacePackages } from './packages.mjs'

/** The page, next to the others. */
export const PAGE = join(root, 'docs/api.md')

/** Packages that others of ours share, and that say of themselves that they promise nothing. */
const UNVERSIONED = new Set(['@fhir-ops/sql', '@fhir-ops/releases'])

const HEAD = `# API

Every name that the packages export, by entry. Docstrings, which editors show, say what each takes, gives and throws; the linked pages have examples.
This page is written by \`node scripts/api-page.mjs\`.

\`fhir-ops/internal/*\`, \`@fhir-ops/sql\` and \`@fhir-ops/releases\` are for our own packages. They have no promise and may change with every release; that is why the packages of one
release belong together.
`

/** The entries that people import, with the symbols that each exports. */
export function publishedEntries() {
  const packages = workspacePackages().filter(
    ({ dir, manifest }) => relative(root, dir).startsWith('packages') && manifest.private !== true,
  )
  const entries = packages.flatMap((pkg) =>
    sourceEntries(pkg)
      .filter(([subpath]) => !subpath.startsWith('./internal/'))
      .map(([subpath, file]) => ({ name: pkg.manifest.name + subpath.slice(1), file })),
  )
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path))
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  const program = ts.createProgram(
    entries.map(({ file }) => file),
    options,
  )
  const checker = program.getTypeChecker()
  return entries.map(({ name, file }) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(file))
    return {
      name,
      file,
      symbols: module === undefined ? [] : checker.getExportsOfModule(module).map((symbol) => described(checker, symbol)),
    }
  })
}

/** The entries that the page lists: those that promise something, core's first. */
export function listedOnPage(entries) {
  const listed = entries.filter(({ name }) => !UNVERSIONED.has(name))
  const isCore = ({ name }) => /^fhir-ops\b/.test(name)
  return [...listed.filter(isCore), ...listed.filter((entry) => !isCore(entry))]
}

function described(checker, symbol) {
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  const comment = ts.displayPartsToString(target.getDocumentationComment(checker))
  return {
    name: symbol.name,
    isValue: Boolean(target.flags & ts.SymbolFlags.Value),
    isDocumented: comment !== '',
    summary: (/^[\s\S]*?\.(?=\s|$)/.exec(comment)?.[0] ?? comment).replaceAll(/\s+/g, ' '),
  }
}

function page() {
  const pages = readFileSync(join(root, 'README.md'), 'utf8')
  return [HEAD, ...listedOnPage(publishedEntries()).map((entry) => section(entry, pages))].join('\n')
}

function section({ name, symbols }, readme) {
  const values = symbols.filter(({ isValue }) => isValue)
  const types = symbols.filter(({ isValue }) => !isValue)
  const topic = name.split('/').at(-1)
  const [link] = new RegExp(`docs/(?:operations/|storage/)?${topic}\\.md`).exec(readme) ?? []
  return [
    `## ${name}\n`,
    ...(link === undefined ? [] : [`Page: [${topic}](${link.slice('docs/'.length)})\n`]),
    ...(values.length === 0
      ? []
      : ['| | |\n|---|---|', ...values.map(({ name: value, summary }) => `| \`${value}\` | ${summary.replaceAll('|', '\\|')} |`), '']),
    ...(types.length === 0 ? [] : [`Types: ${types.map(({ name: type }) => `\`${type}\``).join(', ')}\n`]),
  ].join('\n')
}

if (process.argv[1] === import.meta.filename) writeFileSync(PAGE, `${page().trimEnd()}\n`)
