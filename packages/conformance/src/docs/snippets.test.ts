import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sourceEntries, workspacePackages } from '../../../../scripts/packages.mjs'
import { blocksOf, pages, ROOT, type Block } from './blocks.js'

/** What blocks import beside our packages, where it is installed here. */
const OTHERS: Readonly<Record<string, string[]>> = {
  pg: ['./packages/postgres/node_modules/@types/pg/index.d.ts'],
  '@electric-sql/pglite': ['./packages/postgres/node_modules/@electric-sql/pglite/dist/index.d.ts'],
  '@opentelemetry/api': ['./packages/handler/node_modules/@opentelemetry/api/build/src/index.d.ts'],
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

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fhir-ops-blocks-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Compiles blocks as files of a package with the root's dependencies and options, but for names that are not used; each diagnostic with its place on the page. */
function problemsOf(blocks: readonly Block[]): readonly string[] {
  const paths = Object.entries({ ...BUILT, ...OTHERS }).map(([name, [file = '']]) => [name, [resolve(ROOT, file)]])
  const compilerOptions = {
    types: ['node'],
    declaration: false,
    isolatedDeclarations: false,
    noUnusedLocals: false,
    noUnusedParameters: false,
  }
  const config = { extends: join(ROOT, 'tsconfig.base.json'), compilerOptions: { ...compilerOptions, paths: Object.fromEntries(paths) } }
  const files = { 'package.json': '{"type":"module"}', 'tsconfig.json': JSON.stringify({ ...config, include: ['*.ts'] }) }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  for (const [index, { code }] of blocks.entries()) writeFileSync(join(folder, `block-${index}.ts`), `${code}\nexport {}\n`)
  const { stdout } = spawnSync(process.execPath, [join(ROOT, 'node_modules/typescript-7/bin/tsc'), '-p', folder], {
    cwd: folder,
    encoding: 'utf8',
  })
  return stdout
    .split('\n')
    .filter((line) => /\berror TS/.test(line))
    .map((line) => {
      const [, index, message] = /^block-(\d+)\.ts\(.*?\): error TS\d+: (.*)$/.exec(line) ?? []
      return index === undefined ? line : `${blocks[Number(index)]?.place}: ${message}`
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
