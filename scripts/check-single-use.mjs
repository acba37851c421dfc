// Finds files whose only export is one function that only one other file imports. Such a file of less than 30 lines of code needs a reason,
// and all of them together are at most 6 % of the source files. `--list` names them all. Tests, benches and conformance are not counted.
import { readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import ts from 'typescript'
import { root, sourceFiles } from './packages.mjs'

const SHORT = 30
const MOST = 0.06
const UNCOUNTED = new Set(['bench', 'conformance'])

/** Short files of one use that are right as they are, each with its reason. */
const REASONS = new Map([
  ['packages/core/src/text/form-text.ts', 'Of queries of measures and, in the handler, of requests.'],
  ['packages/core/src/json/media-type.ts', 'Of bodies in the handler and of what bots are given.'],
  ['packages/cql/src/translator/system-model.ts', 'The data of appendix B of the CQL specification.'],
])

const files = sources().map(read)
const importers = new Map(files.map(({ path }) => [path, new Set()]))
for (const { path, imports } of files) for (const target of imports) importers.get(target)?.add(path)
const single = files.filter(
  ({ path, exports }) => exports.length === 1 && exports[0].isFunction && basename(path) !== 'index.ts' && importers.get(path).size === 1,
)
const names = new Set(files.map(({ path }) => relative(root, path)))
const short = single.filter(({ lines }) => lines < SHORT).map(({ path }) => relative(root, path))
const share = single.length / files.length
const problems = [
  ...short
    .filter((file) => !REASONS.has(file))
    .map((file) => `${file} is short and has one use: merge it, or state a reason in ${basename(import.meta.url)}`),
  ...[...REASONS.keys()]
    .filter((file) => !short.includes(file))
    .map((file) => `${file} ${names.has(file) ? 'needs no reason any more' : 'does not exist'}`),
  ...(share > MOST ? [`more than ${MOST * 100} % of the source files have one use`] : []),
]
if (process.argv.includes('--list'))
  for (const { path, lines } of single) console.log(`  ${lines} ${relative(root, path)} <- ${relative(root, [...importers.get(path)][0])}`)
for (const problem of problems) console.error(`  ${problem}`)
console.log(`  ${single.length} of ${files.length} source files have one function and one use: ${(share * 100).toFixed(1)} %`)
process.exit(problems.length > 0 ? 1 : 0)

function sources() {
  return sourceFiles()
    .filter((file) => !UNCOUNTED.has(relative(join(root, 'packages'), file).split(sep, 1)[0]))
    .filter((file) => !/\.(test|test-d|fixture|generated|d)\.ts$/.test(file))
}

function read(path) {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true)
  return {
    path,
    lines: codeLines(source),
    exports: source.statements.filter(isExported).map((statement) => ({ isFunction: ts.isFunctionDeclaration(statement) })),
    imports: source.statements.flatMap((statement) => {
      const specifier = ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement) ? statement.moduleSpecifier?.text : undefined
      return specifier?.startsWith('.') ? [resolve(dirname(path), specifier.replace(/\.js$/, '.ts'))] : []
    }),
  }
}

function isExported(statement) {
  return ts.canHaveModifiers(statement) && (ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false)
}

/** Lines with a token on them; comments are none. */
function codeLines(source) {
  const lines = new Set()
  const line = (position) => source.getLineAndCharacterOfPosition(position).line
  const visit = (node) => {
    if (node.kind === ts.SyntaxKind.JSDoc) return
    const children = node.getChildren(source)
    children.forEach(visit)
    if (children.length > 0 || node.getWidth(source) === 0) return
    for (let at = line(node.getStart(source)); at <= line(node.end); at++) lines.add(at)
  }
  visit(source)
  return lines.size
}
