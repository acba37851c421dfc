import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'

/** Diagnostics about names that are declared and not used: blocks show what there is. */
const UNUSED = new Set([6133, 6192, 6196, 6198])
const ROOT = resolve(import.meta.dirname, '../../../..')

/** What the text around a block says that the reader has: names that blocks use and do not declare. */
const GIVEN: Readonly<Record<string, string>> = {
  ctx: "import('fhir-ops/context').OperationContext",
  context: "import('fhir-ops/context').OperationContext",
  storage: "import('fhir-ops/storage').Storage",
  indexer: "import('fhir-ops/storage').Indexer",
  sessions: "import('fhir-ops/sessions').Sessions",
  system: 'string',
  codeSystem: 'object',
  valueSet: 'object',
  conceptMap: 'object',
}

interface Snippet {
  readonly name: string
  readonly code: string
}

function pages(): readonly string[] {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
  const packages = readdirSync(join(ROOT, 'packages')).map((name) => join('packages', name, 'README.md'))
  return [
    'README.md',
    ...docs.filter((file) => file.endsWith('.md')).map((file) => join('docs', file)),
    ...packages.filter((file) => existsSync(join(ROOT, file))),
  ]
}

/** The TypeScript blocks of a page that stand for themselves: they begin with an import, and import no file of the reader's own. */
function snippetsOf(page: string): readonly Snippet[] {
  const blocks = readFileSync(join(ROOT, page), 'utf8').matchAll(/^```ts\n([\s\S]*?)^```/gm)
  return [...blocks]
    .map(([, code = ''], index) => ({ name: `${page.replaceAll(/[/.]/g, '-')}-${index}.ts`, code }))
    .filter(({ code }) => code.startsWith('import') && !code.includes("from './"))
}

function withGiven({ name, code }: Snippet): Snippet {
  const missing = Object.entries(GIVEN).filter(([given]) => !new RegExp(`(const|import)[^=;\n]*\\b${given}\\b[^=;\n]*(=|from)`).test(code))
  return { name, code: `${code}\n${missing.map(([given, type]) => `declare const ${given}: ${type}\n`).join('')}export {}\n` }
}

/** Compiles snippets as files beside the root's tsconfig; the first message of each diagnostic. */
function problemsOf(snippets: readonly Snippet[]): readonly string[] {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) => ts.sys.readFile(path))
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT)
  const texts = new Map(snippets.map(({ name, code }) => [join(ROOT, name), code]))
  const host = ts.createCompilerHost(options)
  const disk = { ...host }
  host.fileExists = (file) => texts.has(file) || disk.fileExists(file)
  host.readFile = (file) => texts.get(file) ?? disk.readFile(file)
  host.getSourceFile = (file, ...rest) => {
    const text = texts.get(file)
    return text === undefined ? disk.getSourceFile(file, ...rest) : ts.createSourceFile(file, text, ts.ScriptTarget.Latest)
  }
  const program = ts.createProgram([...texts.keys()], { ...options, declaration: false, isolatedDeclarations: false }, host)
  return [...texts.keys()].flatMap((file) => {
    const source = program.getSourceFile(file)
    const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
    return found
      .filter(({ code }) => !UNUSED.has(code))
      .map(({ messageText }) => `${relative(ROOT, file)}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`)
  })
}

test('every block of TypeScript in the docs compiles as it stands', () => {
  const snippets = pages().flatMap(snippetsOf).map(withGiven)
  expect(snippets.length).toBeGreaterThan(10)
  expect(problemsOf(snippets)).toEqual([])
})

test('the blocks of the README, and the first of each operation, need nothing that is not in them', () => {
  const operations = readdirSync(join(ROOT, 'docs/operations')).map((file) => join('docs/operations', file))
  const whole = [...snippetsOf('README.md'), ...operations.flatMap((page) => snippetsOf(page).slice(0, 1))]
  expect(whole.length).toBeGreaterThan(10)
  expect(problemsOf(whole.map(({ name, code }) => ({ name, code: `${code}\nexport {}\n` })))).toEqual([])
})

test('a block that does not compile would be noticed', () => {
  expect(problemsOf([{ name: 'wrong.ts', code: "import { nothing } from 'fhir-ops/expand'\n" }])).toHaveLength(1)
})
