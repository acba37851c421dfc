import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { blockWith, outsideProject, readmeExample, run, type OutsideProject } from './outside-project.js'
import { chromium } from '../../../test/chromium.js'
import { BROWSERS } from './browsers.js'
import { installedTools, TOOLS } from './tools.js'

const tools = installedTools()
const browser = tools === undefined ? undefined : chromium()
const PROGRAMS = join(import.meta.dirname, '../programs')
/** What each program writes, in every runtime. */
const EXPECTED: Readonly<Record<string, RegExp>> = {
  readme: /^1 \[.*female.*Female.*\]$/s,
  upstream: /^ada ada bob undefined$/,
  sqlite: inLines('a b c 1 3', '0 1'),
  portable: inLines(
    'registries German (Region=Austria)',
    'loinc-rxnorm Red',
    'snomed sub',
    'cql true',
    'handler 201',
    'fhir-ops Patient.nmae',
    'mcp 11',
  ),
  host: inLines(
    'bot-sandbox HELLO',
    'registries Austria',
    'cross-version true',
    'cql A',
    'postgres 1',
    'testing Lovell',
    'playground true',
    'handler 200',
    'others function function function function function',
  ),
}
/** Those that need no files and no threads. */
const PORTABLE = ['readme', 'upstream', 'portable'] as const
/** Those that are for test runners, where other tests use them, and for the command line. */
const ELSEWHERE = ['@fhir-ops/storage-contract', '@fhir-ops/cli']

/** Ways to harden Node, and what the programs need of `node --permission`. */
const HARDENED = ['--frozen-intrinsics', '--disable-proto=throw', '--disallow-code-generation-from-strings']
const PERMITTED = ['--permission', '--allow-fs-read=*', '--allow-fs-write=*', '--allow-worker']
/** Packages that a bundle for a server leaves out: those with files beside their code, and those of others that esbuild cannot put into ES modules. */
const BESIDE = ['bot-sandbox', 'cql', 'cross-version', 'http', 'playground', 'r4', 'registries', 'releases', 'sqlite']

function inLines(...lines: readonly string[]): RegExp {
  return new RegExp(`^${lines.map((line) => line.replaceAll(/[().]/g, '\\$&')).join('\\n')}$`, 'm')
}

let project: OutsideProject
beforeAll(() => {
  project = outsideProject({ '@cqframework/cql': '5.3.0', '@electric-sql/pglite': '0.5.16' })
  cpSync(PROGRAMS, project.dir, { recursive: true })
  // Runtimes write objects in their own ways.
  writeFileSync(
    join(project.dir, 'readme.js'),
    readmeExample().replace('console.log(total, contains)', 'console.log(total, JSON.stringify(contains))'),
  )
  writeFileSync(join(project.dir, 'required.js'), "import { r4 } from '@fhir-ops/r4'\nr4()\n")
  writeFileSync(join(project.dir, 'loaded.js'), "import { loadR4 } from '@fhir-ops/r4'\nvoid loadR4()\n")
})
afterAll(() => project.remove())

test('every package is used by one of the programs', () => {
  const programs = readdirSync(PROGRAMS).map((file) => readFileSync(join(PROGRAMS, file), 'utf8'))
  const used = (name: string): boolean => [...programs, readmeExample()].some((program) => program.includes(`'${name}`))
  const names = project.packages.map((dir) => String(JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')).name))
  expect(names.filter((name) => !used(name)).toSorted()).toEqual(ELSEWHERE.toSorted())
})

test('the command runs where it is installed', () => {
  const expanded = ['expand', 'http://hl7.org/fhir/ValueSet/administrative-gender', '--filter', 'fem']
  expect(run(join(project.dir, 'node_modules/.bin/fhir-ops'), expanded, project.dir)).toContain('Female')
})

/** Bundles a program for Node as esbuild does by default, so that the program and what is left out each have their own copy of `fhir-ops`. */
async function bundled(example: string, external: readonly string[], format: 'esm' | 'cjs' = 'esm'): Promise<string> {
  const outfile = join(project.dir, 'bundles', `${example}-${external.length}.${format === 'esm' ? 'mjs' : 'cjs'}`)
  const entryPoints = [join(project.dir, `${example}.js`)]
  await build({ entryPoints, outfile, external: [...external], bundle: true, platform: 'node', format, logLevel: 'silent' })
  return outfile
}

test.each(Object.keys(EXPECTED))('a bundle of %s runs, without the packages that have files', async (example) => {
  const left = ['@electric-sql/pglite', ...BESIDE.map((name) => `@fhir-ops/${name}`)]
  expect(run(process.execPath, [await bundled(example, left)], project.dir).trim()).toMatch(EXPECTED[example] ?? '')
})

test.each([
  ['readme', '@fhir-ops/r4', 'esm'],
  ['sqlite', '@fhir-ops/sqlite', 'esm'],
  ['required', '@fhir-ops/r4', 'cjs'],
  ['loaded', '@fhir-ops/r4', 'cjs'],
] as const)('a bundle of %s with %s in it says what to do (%s)', async (example, name, format) => {
  const file = await bundled(example, [], format)
  const words = `The files of ${name} are not next to its code. Leave the package out of the bundle`
  expect(() => run(process.execPath, [file], project.dir)).toThrow(words)
})

describe.skipIf(tools === undefined)('runtimes with a file system (needs tools of npm)', () => {
  const bin = (path: string): string => tools?.file(path) ?? ''
  const runtimes: readonly { readonly name: string; readonly program: string; readonly args: readonly string[] }[] = [
    { name: 'Node 22.13', program: bin('node/bin/node'), args: [] },
    { name: 'Node 24', program: process.execPath, args: [] },
    { name: 'Node 24 with permissions', program: process.execPath, args: [...PERMITTED] },
    { name: 'hardened Node 24', program: process.execPath, args: [...HARDENED] },
    { name: 'Bun', program: bin('bun/bin/bun.exe'), args: ['run'] },
    { name: 'Deno', program: bin('deno/deno'), args: ['run', '--allow-all', '--node-modules-dir=manual', '--no-lock'] },
  ]
  test.each(runtimes.flatMap((runtime) => Object.keys(EXPECTED).map((example) => ({ ...runtime, example }))))(
    '$name runs $example',
    ({ program, args, example }) => {
      expect(run(program, [...args, `${example}.js`], project.dir).trim()).toMatch(EXPECTED[example] ?? '')
    },
  )

  test.each(PORTABLE)('workerd runs %s', (example) => {
    const written = run('node', [join(TOOLS, 'run-in-workerd.mjs'), join(project.dir, `${example}.js`)], project.dir)
    expect(written.trim()).toMatch(EXPECTED[example] ?? '')
  })
})

describe('Yarn, which keeps packages in archives', () => {
  const dir = mkdtempSync(join(tmpdir(), 'fhir-ops-yarn-'))
  const yarn = (...args: readonly string[]): string => run('npx', ['--yes', '--package', '@yarnpkg/cli-dist@4.18.1', 'yarn', ...args], dir)
  beforeAll(() => {
    const { dependencies } = JSON.parse(readFileSync(join(project.dir, 'package.json'), 'utf8'))
    for (const [name, version] of Object.entries<string>(dependencies))
      dependencies[name] = version.replace('file:', `file:${project.dir}/`)
    // No registry has our packages, which depend on each other by version.
    writeFileSync(join(dir, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies, resolutions: dependencies }))
    writeFileSync(
      join(dir, '.yarnrc.yml'),
      'nodeLinker: pnp\nenableImmutableInstalls: false\nenableGlobalCache: false\nenableScripts: false\nenableTelemetry: false\n',
    )
    writeFileSync(join(dir, 'yarn.lock'), '')
    yarn('install')
    for (const example of Object.keys(EXPECTED)) cpSync(join(project.dir, `${example}.js`), join(dir, `${example}.js`))
  })
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  test.each(Object.keys(EXPECTED))('runs %s', (example) => {
    expect(yarn('node', `${example}.js`).trim()).toMatch(EXPECTED[example] ?? '')
  })

  test('runs the command, and what it does in threads', () => {
    const patients = Array.from({ length: 2_000 }, (_, i) => JSON.stringify({ resourceType: 'Patient', id: `p${i}` }))
    writeFileSync(join(dir, 'patients.ndjson'), patients.join('\n'))
    yarn('fhir-ops', 'load', '--storage', 'sqlite:content.db', 'patients.ndjson')
    yarn('fhir-ops', 'export', '--storage', 'sqlite:content.db', '--out', 'exported')
    expect(readFileSync(join(dir, 'exported/Patient.ndjson'), 'utf8').trim().split('\n')).toHaveLength(2_000)
  })
})

describe.each(BROWSERS)('$name', ({ name, needs, command }) => {
  const start = tools === undefined ? undefined : command()

  test.skipIf(start === undefined).each(PORTABLE)(`runs %s, built by Vite (needs ${needs} and tools of npm)`, (example) => {
    const page = pageOf(example, name)
    expect(run('node', [join(TOOLS, 'run-in-browser.mjs'), page, ...(start ?? [])], project.dir).trim()).toMatch(EXPECTED[example] ?? '')
  })
})

describe.skipIf(browser === undefined)('Chromium (needs Chromium and tools of npm)', () => {
  test.each(PORTABLE.flatMap((example) => ['built', 'developed'].map((kind) => ({ example, kind }))))(
    'runs $example, $kind by Vite',
    ({ example, kind }) => {
      const page = pageOf(example, kind)
      const written = run('node', [join(TOOLS, 'run-in-chromium.mjs'), browser ?? '', kind, page], project.dir)
      expect(written.trim()).toMatch(EXPECTED[example] ?? '')
    },
  )
})

/** The policy of docs/browsers.md. */
const STRICT =
  "default-src 'none'; script-src 'self'; connect-src 'self'; img-src data:; require-trusted-types-for 'script'; trusted-types default"

/** A folder with a page that runs a program; if it is built, under a strict policy. */
function pageOf(example: string, kind: string): string {
  const page = join(project.dir, 'pages', `${example}-${kind}`)
  mkdirSync(page, { recursive: true })
  cpSync(join(project.dir, `${example}.js`), join(page, 'main.js'))
  // The development server of Vite needs inline styles and a socket.
  const policy = kind === 'built' ? `<meta http-equiv="Content-Security-Policy" content="${STRICT}">` : ''
  writeFileSync(join(page, 'policy.js'), kind === 'built' ? blockWith('docs/browsers.md', 'trustedTypes') : '')
  const scripts = ['policy', 'main'].map((name) => `<script type="module" src="./${name}.js"></script>`)
  writeFileSync(join(page, 'index.html'), `<!doctype html>${policy}<link rel="icon" href="data:,">${scripts.join('')}`)
  return page
}
