import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { translator } from '../test/translator.fixture.js'
import type { Io } from './io.js'
import { run } from './program.js'

const LINES = '{"resourceType":"Patient","id":"p"}\n{"resourceType":"Encounter","id":"e","subject":{"reference":"Patient/p"}}\n'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fhir-ops-cql-'))
  const head = "using FHIR version '4.0.1'\ninclude FHIRHelpers version '4.0.1'\n"
  await writeFile(
    join(folder, 'main.cql'),
    `library Main version '1'\n${head}include Common version '1'\nparameter Factor Integer default 2\ncontext Patient\ndefine Visits: Count(Common.Visits) * Factor\ndefine Wrong: singleton from {1, 2}\ndefine function Twice(value Integer): value * 2\n`,
  )
  await writeFile(join(folder, 'common.cql'), `library Common version '1'\n${head}context Patient\ndefine Visits: [Encounter]\n`)
  const entry = [
    { resource: { resourceType: 'Patient', id: 'p' } },
    { resource: { resourceType: 'Encounter', id: 'e', status: 'finished', class: { code: 'AMB' }, subject: { reference: 'Patient/p' } } },
  ]
  await writeFile(join(folder, 'data.json'), JSON.stringify({ resourceType: 'Bundle', type: 'collection', entry }))
})
afterAll(() => rm(folder, { recursive: true }))

interface Printed {
  readonly status: number
  readonly out: string
  readonly err: string
}

const command = (...args: string[]): Promise<Printed> => program(['cql', ...args], { translator })

async function program(args: readonly string[], shared: Pick<Io, 'translator'> = {}): Promise<Printed> {
  const [out, err]: string[][] = [[], []]
  const io = { out: (line: string) => out?.push(line), err: (line: string) => err?.push(line), stdin: async () => '' }
  const status = await run(args, { ...io, ...shared })
  return { status, out: (out ?? []).join('\n'), err: (err ?? []).join('\n') }
}

describe('fhir-ops cql', () => {
  it('evaluates an expression', async () => {
    const evaluated = await program(['cql', '--expression', "1 'g' + 2 'g'"])
    expect(evaluated).toMatchObject({ status: 0, out: "return  3.0 'g'" })
  })

  it('evaluates a definition of a file, over a Bundle, with what other files define', async () => {
    const main = join(folder, 'main.cql')
    const given = ['--data', join(folder, 'data.json'), '--subject', 'Patient/p', '--define', 'Visits']
    const { status, out } = await command(main, ...given, '--parameter', 'Factor=2 + 5', '--json')
    expect([status, JSON.parse(out)]).toEqual([0, expect.objectContaining({ parameter: [{ name: 'Visits', valueInteger: 7 }] })])
  })

  it('evaluates all definitions over the lines of NDJSON: one that fails is an error, beside the others', async () => {
    const data = join(folder, 'data.ndjson')
    await writeFile(data, LINES)
    const answer = await command(join(folder, 'main.cql'), '--subject', 'Patient/p', '--data', data)
    expect(answer).toMatchObject({ status: 1, out: 'Visits  2', err: expect.stringContaining('Wrong') as string })
  })

  it('names the line of NDJSON that is not JSON', async () => {
    const data = join(folder, 'broken.ndjson')
    await writeFile(data, `${LINES}{"resourceType":]\n`)
    expect(await command(join(folder, 'main.cql'), '--subject', 'Patient/p', '--data', data)).toMatchObject({
      err: expect.stringContaining('broken.ndjson:3:17 is not JSON') as string,
    })
  })

  it('explains a definition, and writes pages of the explanation and of the coverage', async () => {
    const [page, lines] = ['why.html', 'lines.info'].map((name) => join(folder, name))
    const asked = [join(folder, 'main.cql'), '--subject', 'Patient/p', '--data', join(folder, 'data.json'), '--define', 'Visits']
    const answer = await command(...asked, '--explain', page ?? '', '--coverage', lines ?? '')
    expect(answer).toMatchObject({ status: 0, out: 'Visits  2' })
    expect(answer.err).toBe(
      '"Visits" is 2 because `Count(Common.Visits) * Factor` is 2: `Count(Common.Visits)` is 1: `[Encounter]` finds 1 Encounter: Encounter/e.',
    )
    expect(await readFile(page ?? '', 'utf8')).toContain('<span class="t" title="true">Common.Visits</span>')
    expect(await readFile(lines ?? '', 'utf8')).toMatch(/^TN:\nSF:Main\.cql\nFN:7,Visits\nFNDA:1,Visits\n/)
    expect((await command(...asked, '--coverage')).err).toContain('Main|1    Visits  3 of 3 clauses  true 1')
    expect(await command(...asked, '--explain', 'why.txt')).toMatchObject({
      status: 2,
      err: expect.stringContaining('must end in .html') as string,
    })
  })

  it('evaluates over what is loaded', async () => {
    const loaded = await command(
      join(folder, 'main.cql'),
      '--load',
      join(folder, 'data.json'),
      '--subject',
      'Patient/p',
      '--expression',
      'Main.Visits + 1',
    )
    expect(loaded).toMatchObject({ status: 0, out: 'return  3' })
  })

  it.each<[string, readonly string[], number, RegExp]>([
    ['nothing to evaluate', [], 2, /Name a file, or give --expression/],
    ['CQL with an error', ['--expression', '1 +'], 1, /line 1, column/],
    ['a parameter without a value', ['--expression', '1', '--parameter', 'x'], 2, /must be a name, = and a value/],
    ['a parameter that is no CQL', ['--expression', '1', '--parameter', 'x=zork'], 1, /identifier zork.* at --parameter\]/],
    [
      'a parameter that cannot be evaluated',
      ['--expression', '1', '--parameter', 'x=singleton from {1, 2}'],
      1,
      /one element.* at --parameter\]/,
    ],
    ['a definition and an expression', ['--expression', '1', '--define', 'X'], 2, /at --define, --expression\]/],
    ['a file that does not exist', ['/nowhere/x.cql'], 2, /cannot be read/],
    ['a manifest that does not exist', ['--expression', '1', '--manifest', 'http://x/m'], 1, /http:.*does not exist.*--manifest/],
  ])('%s is refused', async (_, args, status, message) => {
    const answer = await command(...args)
    expect(answer.status).toBe(status)
    expect(answer.err).toMatch(message)
  })

  it.each([
    ['a definition', ['--define', 'Nope'], "Library Main has no definition 'Nope'. [parameter-value at --define]"],
    [
      'a misspelt definition',
      ['--define', 'visit'],
      "Library Main has no definition 'visit'. Did you mean 'Visits'? [parameter-value at --define]",
    ],
    [
      'a function instead of a definition',
      ['--define', 'Twice'],
      "'Twice' is a function. An expression can call it: Main.Twice(value). [parameter-value at --define]",
    ],
    ['a parameter', ['--parameter', 'Nope=1'], "The library has no parameter 'Nope'. [parameter-invalid at --parameter]"],
    [
      'a misspelt parameter',
      ['--parameter', 'factor=1'],
      "The library has no parameter 'factor'. Did you mean 'Factor'? [parameter-invalid at --parameter]",
    ],
  ])('%s that a file does not have is named with its option', async (_, args, message) => {
    expect(await command(join(folder, 'main.cql'), ...args)).toMatchObject({ status: 2, err: `error: ${message}` })
  })
})

describe('fhir-ops evaluate', () => {
  it('takes parameters in CQL, and leaves out whose evaluation fails', async () => {
    const text = `library Ward using FHIR version '4.0.1' include FHIRHelpers version '4.0.1' parameter Least Integer context Patient
define Old: AgeInYearsAt(@2024-01-01) >= Least and Message(true, Patient.gender = 'other', 'x', 'Error', 'refused')`
    const library = { resourceType: 'Library', id: 'ward', url: 'http://x/Ward', content: [{ contentType: 'text/cql', data: btoa(text) }] }
    const criteria = { language: 'text/cql-identifier', expression: 'Old' }
    const group = [{ population: [{ code: { coding: [{ code: 'initial-population' }] }, criteria }] }]
    const measure = { resourceType: 'Measure', id: 'old', status: 'active', library: [library.url], group }
    const people = ['1950', '1980', '2000'].map((birthDate) => ({ resourceType: 'Patient', id: `p${birthDate}`, birthDate }))
    const all = [library, measure, ...people, { resourceType: 'Patient', id: 'odd', birthDate: '1960', gender: 'other' }]
    const data = join(folder, 'ward.ndjson')
    await writeFile(data, all.map((resource) => JSON.stringify(resource)).join('\n'))
    const asked = ['evaluate', 'old', '--period-start', '2024', '--period-end', '2024', '--load', data, '--parameter', 'Least=20 + 20']
    expect(await program(asked, { translator })).toMatchObject({ status: 1, out: '' })
    const threads = await threadsOf(async () => {
      const { status, out, err } = await program([...asked, '--continue'])
      expect([status, out.replaceAll(/ +/g, ' ')]).toEqual([0, 'group 1 initial-population 2'])
      expect(err).toContain('warning: 1 subject could not be evaluated')
    })
    expect(threads).toBe(1)
  })
})

describe('fhir-ops shell', () => {
  it('translates the CQL of all lines in one thread', async () => {
    const out: string[] = []
    async function* lines(): AsyncIterable<string> {
      yield 'cql --expression "1 + 1"'
      yield 'cql --expression "2 + x"'
      yield 'cql --expression x --parameter x=3'
      yield 'cql --expression "2 + 2"'
    }
    const io: Io = { out: (line) => out.push(line), err: () => {}, stdin: async () => '', isPrompting: true, lines }
    expect(await threadsOf(async () => void (await run(['shell'], io)))).toBe(1)
    expect(out).toEqual(['return  2', 'return  3', 'return  4'])
  })
})

/** How many threads are started while work is done. */
async function threadsOf(work: () => Promise<void>): Promise<number> {
  let started = 0
  const note = (): void => void started++
  process.on('worker', note)
  await work().finally(() => process.off('worker', note))
  return started
}
