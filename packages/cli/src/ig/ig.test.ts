import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Io } from '../io.js'
import { run } from '../program.js'

const BASE = 'http://guide.test/StructureDefinition'
const manifest = (name: string, more: object = {}): object => ({ name, version: '1.0.0', fhirVersions: ['4.0.1'], ...more })

/** A profile with only what it adds. */
const profile = (id: string, element: readonly object[], base = 'http://hl7.org/fhir/StructureDefinition/Patient'): object => ({
  resourceType: 'StructureDefinition',
  id,
  url: `${BASE}/${id}`,
  version: '1.0.0',
  name: id,
  status: 'active',
  kind: 'resource',
  abstract: false,
  type: 'Patient',
  baseDefinition: base,
  derivation: 'constraint',
  differential: { element: [{ id: 'Patient', path: 'Patient' }, ...element] },
})

const patient = (id: string, more: object): object => ({
  resourceType: 'Patient',
  id,
  meta: { profile: [`${BASE}/Own`] },
  text: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">A patient</div>' },
  ...more,
})

const CORE = {
  'package.json': manifest('core.test'),
  'StructureDefinition-Core.json': profile('Core', [{ id: 'Patient.gender', path: 'Patient.gender', min: 1 }]),
}
const GUIDE = {
  'package.json': manifest('guide.test', { dependencies: { 'hl7.fhir.r4.core': '4.0.1', 'core.test': '1.0.0', 'missing.test': '2.0.0' } }),
  '.index.json': { files: [] },
  'ig-r4.json': { guide: 'a file of the publisher that is not a resource' },
  'StructureDefinition-Own.json': profile('Own', [{ id: 'Patient.active', path: 'Patient.active', min: 1 }], `${BASE}/Core`),
  'example/Patient-right.json': patient('right', { active: true, gender: 'female' }),
  'example/Patient-wrong.json': patient('wrong', { active: true }),
  'example/Patient-open.json': patient('open', { gender: 'male' }),
  'other/validation-summary.json': {
    'StructureDefinition/Own': { errors: 0, warnings: 0 },
    'Patient/right': { errors: 1, warnings: 0 },
    'Patient/wrong': { errors: 2, warnings: 0 },
  },
}

let folder = ''
const at = (name: string): string => join(folder, name)

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fhir-ops-ig-'))
  await write('archives/core.test-1.0.0', CORE)
  await write('archives/guide.test-1.0.0', GUIDE)
  for (const name of ['core.test-1.0.0', 'guide.test-1.0.0'])
    execFileSync('tar', ['czf', at(`archives/${name}.tgz`), '-C', at(`archives/${name}`), 'package'])
  await cp(at('archives/guide.test-1.0.0/package'), at('unpacked/guide'), { recursive: true })
  await cp(at('archives/core.test-1.0.0'), at('cache/core.test#1.0.0'), { recursive: true })
  await rm(at('archives/core.test-1.0.0'), { recursive: true })
  await rm(at('archives/guide.test-1.0.0'), { recursive: true })
})

afterAll(() => rm(folder, { recursive: true }))

async function write(path: string, files: Readonly<Record<string, object>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const file = at(join(path, 'package', name))
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, JSON.stringify(content, undefined, 2))
  }
}

async function checked(...args: readonly string[]) {
  const out: string[] = []
  const err: string[] = []
  const io = { out: (line: string) => void out.push(line), err: (line: string) => void err.push(line), stdin: () => Promise.resolve('') }
  const status = await run(['ig', ...args], { ...io, isTerminal: false })
  return { status, out: out.join('\n').replaceAll(`${folder}/`, ''), err: err.join('\n').replaceAll(`${folder}/`, '') }
}

const errorsIn = (out: string): readonly string[] =>
  [...out.matchAll(/^(.*?):\d+:\d+: error.*\[([\w-]+)\]$/gm)].map(([, place, kind]) => `${place} ${kind}`).toSorted()

test('a package is validated with those beside it, by resource and profile, and compared with its own results', async () => {
  const { status, out, err } = await checked(at('archives/guide.test-1.0.0.tgz'))
  expect(errorsIn(out)).toEqual([
    'archives/guide.test-1.0.0.tgz example/Patient-open.json too-few',
    'archives/guide.test-1.0.0.tgz example/Patient-wrong.json too-few',
  ])
  expect(status).toBe(1)
  expect(err).toContain('guide.test#1.0.0 with core.test#1.0.0')
  expect(err).toContain('guide.test#1.0.0 needs missing.test 2.0.0, which is not given')
  expect(err).toMatch(/^http:\/\/guide\.test\/StructureDefinition\/Own +3 +2 +2 /m)
  expect(err).toContain("compared with the package's own results: 3 resources, 2 with the same verdict, 1 with another")
  expect(err).toContain('  Patient/right: 0 errors here, 1 error there')
})

test.each([
  ['in a folder of packages', ['--packages', 'cache']],
  ['named by an option', ['--dependency', 'archives/core.test-1.0.0.tgz']],
  ['named as a folder', ['--dependency', 'cache/core.test#1.0.0']],
])('a folder is validated with what it needs %s', async (_, [option = '', path = '']) => {
  const { status, out } = await checked(at('unpacked/guide'), option, at(path))
  expect(errorsIn(out)).toEqual(['unpacked/guide example/Patient-open.json too-few', 'unpacked/guide example/Patient-wrong.json too-few'])
  expect(status).toBe(1)
})

test.each(['archives/guide.test-1.0.0.tgz', 'unpacked/guide'])('on a terminal a bar shows how much of %s is validated', async (path) => {
  const drawn: string[] = []
  let time = 0
  const io: Io = {
    out: () => {},
    err: () => {},
    stdin: () => Promise.resolve(''),
    draw: (line) => void drawn.push(line),
    // A second at each look, so that four resources take long enough for a bar.
    now: () => (time += 1_000),
  }
  await run(['ig', at(path), '--threads', '1'], io)
  const bars = drawn.filter((line) => line.includes('validating: '))
  expect(bars.at(-1)).toMatch(/^━{19}─{5} validating: 4 resources, 80 %, \d+\/s, about \d+ seconds? left$/)
  expect(drawn.at(-1)).toBe('')
})

test('what rests on a package that is missing is said to be unchecked', async () => {
  const { out, err } = await checked(at('unpacked/guide'))
  expect(err).toContain('guide.test#1.0.0 needs core.test 1.0.0, which is not given')
  expect(errorsIn(out)).not.toContain('unpacked/guide example/Patient-wrong.json too-few')
})

test('results are reported in every format of validate', async () => {
  const { out } = await checked(at('archives/guide.test-1.0.0.tgz'), '--format', 'junit')
  expect(out).toContain('<testsuite')
  expect(out).toContain('Patient-wrong.json')
})

test('a package without errors has the exit status 0', async () => {
  expect((await checked(at('archives/core.test-1.0.0.tgz'))).status).toBe(0)
})

test.each([
  ['what is not there', 'nothing.tgz', 'There is no file or folder nothing.tgz.'],
  ['a folder that is not a package', 'archives', 'validates other folders of resources, such as what SUSHI writes'],
])('%s is refused by name', async (_, path, message) => {
  const { status, err } = await checked(at(path))
  expect(err).toContain(message)
  expect(status).toBe(2)
})

test('one for another release is refused, and so is a damaged one', async () => {
  await write('r5', { 'package.json': { ...manifest('r5.test'), fhirVersions: ['5.0.0'] } })
  expect((await checked(at('r5'))).err).toContain('for FHIR 5.0.0, not for R4')
  await writeFile(at('damaged.tgz'), 'no archive')
  expect((await checked(at('damaged.tgz'))).err).toContain('damaged.tgz: The archive is not a gzip file')
})

test('a file that is not JSON is a finding with its name', async () => {
  await write('broken', { 'package.json': manifest('broken.test') })
  await writeFile(at('broken/package/Patient-a.json'), '{"resourceType":"Patient",')
  const { status, out } = await checked(at('broken'))
  expect(out).toContain('broken Patient-a.json:1:27: fatal')
  expect(status).toBe(1)
})

test('a file in another encoding is refused by its name', async () => {
  await write('latin', { 'package.json': manifest('latin.test') })
  await writeFile(at('latin/package/Patient-a.json'), Buffer.from('{"resourceType":"Patient","name":[{"text":"Zo\u00EB"}]}', 'latin1'))
  expect((await checked(at('latin'))).err).toContain('Patient-a.json is not UTF-8: line 1')
})
