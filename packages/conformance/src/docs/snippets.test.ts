import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { sourceEntries, workspacePackages } from '../../../../scripts/packages.mjs'
import { blocksOf, pages, ROOT, type Block } from './blocks.js'

/** Diagnostics about names that are declared and not used: blocks show what there is. */
const UNUSED = new Set([6133, 6192, 6196, 6198])

/** What blocks import beside our packages, where it is installed here. */
const OTHERS: Readonly<Record<string, string[]>> = {
  pg: ['./packages/postgres/node_modules/@types/pg'],
  '@electric-sql/pglite': ['./packages/postgres/node_modules/@electric-sql/pglite'],
  '@opentelemetry/api': ['./packages/handler/node_modules/@opentelemetry/api'],
}

/** Our packages by the declarations that users get, which take about half the time of the sources. */
const BUILT = Object.fromEntries(
  workspacePackages().flatMap((pkg) =>
    sourceEntries(pkg).map(([subpath, file]) => [
      `${pkg.manifest.name}${subpath.slice(1)}`,
      [file.replace(join(pkg.dir, 'src'), join(pkg.dir, 'dist')).replace(/\.ts$/, '.d.ts')],
    ]),
  ),
)

const blocks = pages()
  .flatMap(blocksOf)
  .filter(({ kind }) => kind !== 'bot' && kind !== 'jest')

/** Compiles blocks as files beside the root's tsconfig; each diagnostic with its place on the page. */
function problemsOf(given: readonly Block[]): readonly string[] {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) => ts.sys.readFile(path))
  const { options: own } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT)
  const options = { ...own, declaration: false, isolatedDeclarations: false, paths: { ...BUILT, ...OTHERS } }
  const files = new Map(given.map((block, index) => [join(ROOT, `block-${index}.ts`), block]))
  const host = ts.createCompilerHost(options)
  const disk = { ...host }
  host.fileExists = (file) => files.has(file) || disk.fileExists(file)
  host.getSourceFile = (file, ...rest) => {
    const block = files.get(file)
    if (block === undefined) return disk.getSourceFile(file, ...rest)
    return ts.createSourceFile(file, `${block.code}\nexport {}\n`, ts.ScriptTarget.Latest)
  }
  const program = ts.createProgram([...files.keys()], options, host)
  return [...files].flatMap(([file, { place }]) => {
    const source = program.getSourceFile(file)
    const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
    return found
      .filter(({ code }) => !UNUSED.has(code))
      .map(({ messageText }) => `${place}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`)
  })
}

test('every block of code in the docs compiles as it stands, and one that does not would be noticed', () => {
  const wrong = (code: string): Block => ({ place: 'here:1', language: 'ts', code, kind: 'whole' })
  const problems = problemsOf([...blocks, wrong("import { nothing } from 'fhir-ops/expand'\n"), wrong('console.log(ctx)\n')])
  expect(blocks.length).toBeGreaterThan(70)
  expect(problems).toEqual([expect.stringMatching(/^here:1: .* has no exported member 'nothing'\.$/), "here:1: Cannot find name 'ctx'."])
})

test('the test of docs/testing.md is the one that examples/testing runs', () => {
  const [block] = blocksOf('docs/testing.md')
  expect(block?.code).toBe(readFileSync(join(ROOT, 'examples/testing/service.test.ts'), 'utf8'))
})
