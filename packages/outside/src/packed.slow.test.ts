import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { unnamedParts } from './exported-parts.js'
import { outsideProject, readmeExample, ROOT, run, type OutsideProject } from './outside-project.js'

/** Versions of TypeScript that are supported and that do not build the packages. */
const OLDER_COMPILERS = ['typescript-5.4.5', 'typescript-5.6.3']

let project: OutsideProject
beforeAll(() => {
  project = outsideProject(Object.fromEntries(OLDER_COMPILERS.map((name) => [name, `npm:${name.replace('-', '@')}`])))
})
afterAll(() => project.remove())

interface Manifest {
  readonly name: string
  readonly exports?: Readonly<Record<string, unknown>>
  readonly [member: string]: unknown
}

function manifests(): readonly Manifest[] {
  return project.packages.map((dir) => JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')))
}

/** What people import: each entry that is a module. */
function entries(): readonly string[] {
  return manifests().flatMap(({ name, exports = {} }) =>
    Object.entries(exports).flatMap(([path, target]) =>
      typeof target === 'object' && !path.includes('*') ? [`${name}${path.slice(1)}`] : [],
    ),
  )
}

/** Those that import vitest, which refuses `require`, or need what Jest puts into its tests. */
const OF_TEST_RUNNERS = ['@fhir-ops/storage-contract', '@fhir-ops/testing/vitest', '@fhir-ops/testing/jest']

/** What the bundler adds itself, of which there are no sources; that of the page has a hash in its name. */
const OF_BUNDLER = /(?:^|\/)rolldown-runtime(?:-[\w-]+)?\.js$/

/** A file of a bundle that only gives what is in others: there is nothing of a source in it. */
const ONLY_NAMES = /^(?:import\s*(?:\{[^{}]*\}\s*from\s*)?"[^"]*";\s*)*(?:export\s*\{[^{}]*\}(?:\s*from\s*"[^"]*")?;\s*)?$/

describe('the packages as they are published', () => {
  test('publint has nothing to say', async () => {
    const said: string[] = []
    for (const pkgDir of project.packages) {
      const { messages, pkg } = await publint({ pkgDir, pack: false, level: 'suggestion' })
      said.push(...messages.map((message) => `${pkgDir}: ${formatMessage(message, pkg) ?? message.code}`))
    }
    expect(said).toEqual([])
  })

  test('each says where it comes from and what it needs', () => {
    for (const manifest of manifests()) {
      expect(manifest, manifest.name).toMatchObject({
        license: 'Apache-2.0',
        engines: { node: '>=22.13' },
        repository: { type: 'git', url: expect.stringContaining('github.com') },
        homepage: expect.stringContaining('https://'),
        bugs: { url: expect.stringContaining('/issues') },
        keywords: expect.arrayContaining(['fhir']),
      })
      expect(JSON.stringify(manifest), manifest.name).not.toMatch(/"(?:workspace|catalog|link|file):/)
    }
  })

  test('each has a README and a licence, source maps with their sources, and nothing of the tests', () => {
    for (const dir of project.packages) {
      const files = readdirSync(dir, { recursive: true, encoding: 'utf8' })
      expect(files, dir).toEqual(expect.arrayContaining(['README.md', 'LICENSE']))
      expect(files.filter((file) => /\.test\.|fixture|tsup/.test(file))).toEqual([])
      // What bots run inside their engine is text for it, not a module of ours.
      for (const file of files.filter((name) => name.endsWith('.js') && !name.includes('prelude'))) {
        if (OF_BUNDLER.test(file) || ONLY_NAMES.test(readFileSync(join(dir, file), 'utf8'))) continue
        const map = JSON.parse(readFileSync(join(dir, `${file}.map`), 'utf8'))
        expect(map.sources.length, file).toBe(map.sourcesContent.length)
      }
    }
  })

  test.each([
    ['nodenext', { module: 'nodenext', moduleResolution: 'nodenext' }],
    ['node16', { module: 'node16', moduleResolution: 'node16' }],
    ['bundler', { module: 'esnext', moduleResolution: 'bundler' }],
  ])('every entry type-checks with every strict option and without skipLibCheck, by TypeScript 5.9 and 7: %s', (name, resolution) => {
    const lines = entries().map((entry, index) => `import * as entry${index} from '${entry}'\nexport { entry${index} }`)
    writeFileSync(join(project.dir, 'entries.ts'), lines.join('\n'))
    writeFileSync(join(project.dir, 'readme.ts'), readmeExample())
    const compilerOptions = {
      ...resolution,
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noPropertyAccessFromIndexSignature: true,
      skipLibCheck: false,
      noEmit: true,
      target: 'es2024',
      lib: ['es2024', 'dom', 'dom.iterable', 'dom.asynciterable', 'esnext.disposable', 'esnext.collection', 'esnext.iterator'],
      types: ['node'],
      typeRoots: [join(ROOT, 'node_modules/@types')],
    }
    const config = `tsconfig.${name}.json`
    writeFileSync(join(project.dir, config), JSON.stringify({ compilerOptions, files: ['entries.ts', 'readme.ts'] }))
    for (const compiler of ['typescript', 'typescript-7']) run(join(ROOT, 'node_modules', compiler, 'bin/tsc'), ['-p', config], project.dir)
  })

  test.each(OLDER_COMPILERS)('every entry type-checks with strict options and without skipLibCheck: %s', (compiler) => {
    const compilerOptions = {
      module: 'nodenext',
      strict: true,
      exactOptionalPropertyTypes: true,
      verbatimModuleSyntax: true,
      isolatedModules: true,
      skipLibCheck: false,
      noEmit: true,
      target: 'es2022',
      lib: ['es2023', 'dom', 'dom.iterable'],
      types: ['node'],
      typeRoots: [join(ROOT, 'node_modules/@types')],
    }
    writeFileSync(join(project.dir, 'readme.ts'), readmeExample())
    const lines = entries().map((entry, index) => `import * as entry${index} from '${entry}'\nexport { entry${index} }`)
    writeFileSync(join(project.dir, 'entries.ts'), lines.join('\n'))
    const config = `tsconfig.${compiler}.json`
    writeFileSync(join(project.dir, config), JSON.stringify({ compilerOptions, files: ['entries.ts', 'readme.ts'] }))
    run('node', [join(project.dir, 'node_modules', compiler, 'bin/tsc'), '-p', config], project.dir)
  })

  test('types are one file for each entry', () => {
    for (const [index, dir] of project.packages.entries()) {
      const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.d.ts'))
      const named = Object.values(manifests()[index]?.exports ?? {}).flatMap((target) =>
        typeof target === 'object' && target !== null && 'types' in target ? [String(target.types).replace('./', '')] : [],
      )
      const isEntry = (file: string): boolean => named.some((name) => name === file || (name.includes('*') && file.endsWith('/index.d.ts')))
      expect(files.filter((file) => !isEntry(file))).toEqual([])
    }
  })

  test('whatever the packages give can be exported by a module whose declarations are written', () => {
    const ours = entries().filter((entry) => !OF_TEST_RUNNERS.includes(entry))
    expect(unnamedParts(project.dir, ours)).toEqual([])
  })

  test('CommonJS can require every entry', () => {
    const require = createRequire(join(project.dir, 'index.cjs'))
    for (const entry of entries().filter((name) => !OF_TEST_RUNNERS.includes(name))) expect(() => require(entry), entry).not.toThrow()
  })

  test('the example of the README runs', () => {
    writeFileSync(join(project.dir, 'readme.mjs'), readmeExample())
    expect(run('node', ['readme.mjs'], project.dir)).toMatch(/^1 \[[\s\S]*code: 'female',\s+display: 'Female'/)
  })
})
