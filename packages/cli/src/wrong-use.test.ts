import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { openSqlite } from '@fhir-ops/sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { translator } from '../test/translator.fixture.js'
import { commandsOf } from './config.js'
import { program, run } from './program.js'
import { SAMPLE_FOLDER } from './files.js'

const folder = mkdtempSync(join(tmpdir(), 'fhir-ops-wrong-use-'))
const file = (name: string): string => join(folder, name)
/** Files that are not what a command expects. */
const TEXTS = {
  'broken.json': '{"resourceType":"Patient",\n "id":}',
  'text.txt': 'hello',
  'not-a-database.db': 'This is text, which is longer than the header of a database, and no database. '.repeat(4),
  'object.json': '{}',
  'collected.json': '{"resourceType":"Parameters"}',
  'patient.json': '{"resourceType":"Patient","id":"p"}',
  'part.json': '{"format":"measure-part","run":"x","part":0,"of":2,"counts":[{"groups":[],"failures":[]}]}',
  'fails.js': "export const handler = () => {\n  throw new Error('no luck')\n}",
  'broken.js': 'export const handler = (',
  'broken.cql': 'define A: 1 +',
}
beforeAll(async () => {
  await (await openSqlite(file('a.db'))).close()
  for (const [name, text] of Object.entries(TEXTS)) writeFileSync(file(name), text)
  writeFileSync(file('utf16.json'), Buffer.from('\uFEFF{"weightKg":61.5}', 'utf16le'))
  mkdirSync(file('folder'))
  symlinkSync('loop.json', file('loop.json'))
  for (const name of ['secret.json', 'secret.tgz']) writeFileSync(file(name), '', { mode: 0 })
  mkdirSync(file('locked'), { mode: 0 })
  mkdirSync(file('guide'))
  writeFileSync(file('guide/package.json'), '{')
})
afterAll(() => {
  // A user other than root cannot remove what it cannot list.
  chmodSync(file('locked'), 0o700)
  rmSync(folder, { recursive: true })
})

const silent = { out: () => {}, err: () => {}, stdin: async () => '' }
/** Every command that runs, but those whose own tests say what they answer to wrong use. */
const LEAVES = commandsOf(await program(silent)).filter(({ path }) => !['validate', 'ig', 'snapshot'].includes(path.join(' ')))

const SYSTEM = 'http://example.org/fhir/CodeSystem/visit-priority'
const GENDERS = 'http://hl7.org/fhir/administrative-gender'
const MAP = 'http://example.org/fhir/ConceptMap/visit-priority-to-act-priority'
const PERIOD = ['--period-start', '2026', '--period-end', '2026']
const CONTENT = ['--load', SAMPLE_FOLDER]
/** What each command needs to get as far as its storage and its files. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  demo: ['--port', '0'],
  serve: ['--port', '0'],
  mcp: [],
  load: [SAMPLE_FOLDER],
  export: ['--out', file('out')],
  'import snomed': [file('text.txt')],
  'import loinc': [file('text.txt'), '--release', '2.82'],
  'import rxnorm': [file('text.txt'), '--release', '03022026'],
  translate: ['urgent', '--system', SYSTEM, '--url', 'http://example.org/fhir/ConceptMap/none'],
  expand: ['http://example.org/fhir/ValueSet/none'],
  lookup: ['urgent', '--system', SYSTEM],
  'validate-code': ['urgent', '--system', SYSTEM],
  subsumes: ['urgent', 'planned', '--system', SYSTEM],
  compare: ['http://example.org/fhir/ValueSet/none', 'http://example.org/fhir/ValueSet/other'],
  closure: ['visits', '--storage', `sqlite:${file('closure.db')}`],
  schema: ['Patient'],
  evaluate: ['none', ...PERIOD],
  'data-requirements': ['none', ...PERIOD],
  'collect-data': ['none', ...PERIOD],
  'submit-data': [file('collected.json')],
  cql: ['--expression', '1'],
  execute: ['none', '--input', file('patient.json')],
  'bot run': [file('fails.js')],
  'bot deploy': [file('fails.js')],
  shell: [],
  'token create': [],
  'token list': [],
  'token revoke': ['6f1c2a0e-3b1d-4c55-9f2e-8d7a90b1c2d3'],
  backup: [file('copy.db')],
  check: [],
  completion: ['bash'],
}

/** Runs a wrong call, which must end with a status of its own and a sentence, and gives what it said. */
async function refused(args: readonly string[], stdin = ''): Promise<{ readonly status: number; readonly err: string }> {
  const err: string[] = []
  const io = {
    out: (line: string) => void err.push(line),
    err: (line: string) => void err.push(line),
    stdin: async () => stdin,
    translator,
  }
  const status = await run(args, io)
  const said = err.join('\n')
  expect([1, 2], said).toContain(status)
  expect(said).toMatch(/^error: .*\w/m)
  expect(said).not.toMatch(/^\s+at |\bnode:internal|undefined|\[object/m)
  return { status, err: said }
}

const named = (path: readonly string[]): string => path.join(' ')
const rows = (chosen: typeof LEAVES = LEAVES) => chosen.map(({ path, command }) => ({ name: named(path), path, command }))
const having = (option: string) => rows(LEAVES.filter(({ command }) => command.options.some(({ long }) => long === option)))

test('each command is here', () => {
  expect(Object.keys(NEEDED).toSorted()).toEqual(LEAVES.map(({ path }) => named(path)).toSorted())
})

describe('what every command answers to', () => {
  test.each(rows())('$name: a misspelt option', async ({ name, path }) => {
    const { status, err } = await refused([...path, ...(NEEDED[name] ?? []), '--storrage', 'x'])
    expect([status, err]).toEqual([2, expect.stringContaining("unknown option '--storrage'")])
  })

  test.each(rows(LEAVES.filter(({ command }) => command.registeredArguments.some(({ required }) => required))))(
    '$name: a missing argument',
    async ({ path, command }) => {
      const mandatory = command.options.flatMap(({ long, mandatory: is }) => (is && long ? [long, 'sqlite:x'] : []))
      const { status, err } = await refused([...path, ...mandatory])
      expect([status, err]).toEqual([2, expect.stringContaining(`missing required argument '${command.registeredArguments[0]?.name()}'`)])
    },
  )

  test.each(rows(LEAVES.filter(({ command }) => command.options.some(({ mandatory, defaultValue }) => mandatory && !defaultValue))))(
    '$name: a missing option',
    async ({ path, command }) => {
      const words = command.registeredArguments.map(() => file('text.txt'))
      expect(await refused([...path, ...words])).toMatchObject({
        status: 2,
        err: expect.stringMatching(/required option '--.*' not specified/),
      })
    },
  )

  test.each(having('--storage'))('$name: a storage that there is not', async ({ name, path }) => {
    const { status, err } = await refused([...path, ...(NEEDED[name] ?? []), '--storage', 'sqlit:x'])
    expect([status, err]).toEqual([2, expect.stringMatching(/--storage .*sqlite:FILE/)])
  })

  test.each(having('--storage'))('$name: a storage that is not a database', async ({ name, path }) => {
    const { err } = await refused([...path, ...(NEEDED[name] ?? []), '--storage', `sqlite:${file('not-a-database.db')}`], '{}').catch(
      // `check` answers what it is asked.
      (error: unknown) => {
        if (name !== 'check') throw error
        return { err: 'not-a-database.db: The database file is damaged or is not a database.' }
      },
    )
    expect(err).toMatch(/not-a-database\.db: The database file is damaged or is not a database/)
    expect(readFileSync(file('not-a-database.db'), 'utf8')).toBe(TEXTS['not-a-database.db'])
  })

  test.each(having('--load').filter(({ name }) => name !== 'demo'))('$name: content that is not there', async ({ name, path }) => {
    const { status, err } = await refused([...path, ...(NEEDED[name] ?? []), '--load', file('absent.json')])
    expect([status, err]).toEqual([2, expect.stringContaining(`There is no file or folder ${file('absent.json')}.`)])
  })

  test('a help for a command that there is not', async () => {
    for (const args of [['help', 'expnd'], ['expnd', '--help'], ['expnd']])
      expect(await refused(args)).toMatchObject({ status: 2, err: expect.stringMatching(/unknown command 'expnd'[^]*Did you mean expand/) })
    for (const args of [
      ['help', 'token', 'creat'],
      ['token', 'help', 'creat'],
      ['token', 'creat', '--help'],
      ['token', 'creat'],
    ])
      expect(await refused(args)).toMatchObject({ status: 2, err: expect.stringMatching(/unknown command 'creat'[^]*Did you mean create/) })
  })
})

describe('what a command answers to in particular', () => {
  test.each<[string, readonly string[], number, string]>([
    [
      'a date',
      ['evaluate', 'heart-rate-count', '--period-start', 'june', '--period-end', '2026', ...CONTENT],
      2,
      '--period-start must be a date',
    ],
    [
      'no date',
      ['data-requirements', 'heart-rate-count', ...CONTENT],
      2,
      '--period-start is required. [parameter-required at --period-start]',
    ],
    [
      'a count',
      ['expand', 'http://example.org/fhir/ValueSet/visit-priority', '--count', 'many', ...CONTENT],
      2,
      '--count must be a whole number',
    ],
    ['a release that has no importer', ['import', 'icd10', CONTENT[1] ?? ''], 2, 'load any other code system as a CodeSystem resource'],
    ['no map', ['translate', 'urgent', '--system', SYSTEM, ...CONTENT], 2, 'at --url'],
    [
      'a report type',
      ['evaluate', 'heart-rate-count', ...PERIOD, '--report-type', 'all'],
      2,
      'Allowed choices are subject, subject-list, population',
    ],
    [
      'a misspelt value set',
      ['expand', 'http://example.org/fhir/ValueSet/visit-prority', ...CONTENT],
      1,
      "Did you mean 'http://example.org/fhir/ValueSet/visit-priority'?",
    ],
    [
      'a value set of R4, misspelt',
      ['expand', 'http://hl7.org/fhir/ValueSet/administrative-gendr'],
      1,
      "Did you mean 'http://hl7.org/fhir/ValueSet/administrative-gender'?",
    ],
    ['a code system as value set', ['expand', SYSTEM, ...CONTENT], 1, `'${SYSTEM}' is the canonical of a CodeSystem.`],
    [
      'a value set as code system',
      ['lookup', 'urgent', '--system', 'http://example.org/fhir/ValueSet/visit-priority', ...CONTENT],
      1,
      'is the canonical of a ValueSet.',
    ],
    [
      'a code of SNOMED CT, which is not imported',
      ['lookup', '44054006', '--system', 'http://snomed.info/sct'],
      1,
      'SNOMED CT comes from its publisher, and is imported by `fhir-ops import snomed',
    ],
    ['a misspelt code', ['lookup', 'mael', '--system', GENDERS], 1, "version 4.0.1. Did you mean 'male'? [not-found at code]"],
    ['a misspelt code of two', ['subsumes', 'urgnt', 'urgent', '--system', SYSTEM, ...CONTENT], 1, "Did you mean 'urgent'?"],
    ['a misspelt code, explained', ['lookup', 'mael', '--system', GENDERS, '--explain'], 1, "'mael' is not a code of"],
    ['a misspelt map', ['translate', 'a', '--system', SYSTEM, '--url', `${MAP}x`, ...CONTENT], 1, `Did you mean '${MAP}'?`],
    [
      'a misspelt profile',
      ['schema', 'http://hl7.org/fhir/StructureDefinition/Patiant'],
      1,
      "Did you mean 'http://hl7.org/fhir/StructureDefinition/Patient'?",
    ],
    ['a misspelt definition', ['snapshot', '--url', 'http://hl7.org/fhir/StructureDefinition/bpp'], 1, 'StructureDefinition/bp'],
    ['a code system by a short name', ['lookup', '2160-0', '--system', 'loinc'], 1, "The canonical of LOINC is 'http://loinc.org'."],
    ['a code system by its id', ['lookup', 'a', '--system', 'nope'], 1, "such as 'http://hl7.org/fhir/administrative-gender'"],
    ['a value set by its id', ['expand', 'administrative-gender'], 1, 'Definitions are named by their canonical'],
    ['a file as storage', ['load', file('patient.json'), '--storage', file('b.db')], 2, `Did you mean sqlite:${file('b.db')}?`],
    [
      'a database that is not there',
      ['load', file('patient.json'), '--storage', 'postgres://me:secret@127.0.0.1:1/clinic'],
      1,
      'error: postgres://127.0.0.1:1/clinic: The database cannot be reached.',
    ],
    ...['postgres://me:secret@127.0.0.1:99999/clinic', 'postgres://me:se/cret@127.0.0.1/clinic'].map(
      (url): [string, readonly string[], number, string] => [
        `a database whose URL is wrong: ${url}`,
        ['load', file('patient.json'), '--storage', url],
        2,
        'error: --storage is not a valid postgres:URL',
      ],
    ),
    [
      'a certificate that is not there',
      ['load', file('patient.json'), '--storage', `postgres://127.0.0.1:1/clinic?sslmode=verify-full&sslrootcert=${file('none.pem')}`],
      2,
      `${file('none.pem')} cannot be read`,
    ],
    [
      'a certificate that is not there, by a path from the current folder',
      ['load', file('patient.json'), '--storage', 'postgres://127.0.0.1:1/clinic?sslmode=verify-full&sslrootcert=no%20such.pem'],
      2,
      `${resolve('no such.pem')} cannot be read`,
    ],
    [
      'a socket that is not there',
      ['load', file('patient.json'), '--storage', `postgres:///clinic?host=${file('none')}`],
      1,
      'The database cannot be reached.',
    ],
    [
      'a server that is not there',
      ['lookup', 'a', '--system', 'http://a.example/none', '--storage', 'http://127.0.0.1:1/fhir'],
      1,
      'error: http://127.0.0.1:1/fhir: The upstream FHIR server cannot be reached.',
    ],
    ['a misspelt measure', ['evaluate', 'heart-rate-cout', ...PERIOD, ...CONTENT], 1, "Did you mean 'heart-rate-count'?"],
    [
      'a part of a measure that is not JSON',
      ['evaluate', 'heart-rate-count', ...PERIOD, ...CONTENT, '--merge', file('broken.json')],
      1,
      `${file('broken.json')}:2:7 is not JSON, as \`fhir-ops evaluate --part\` prints it`,
    ],
    [
      'a part of a measure that is a resource',
      ['evaluate', 'heart-rate-count', ...PERIOD, ...CONTENT, '--merge', file('patient.json')],
      1,
      `${file('patient.json')} is not what \`fhir-ops evaluate --part\` prints.`,
    ],
    [
      'a part of a measure that is not whole',
      ['evaluate', 'heart-rate-count', ...PERIOD, ...CONTENT, '--merge', file('part.json')],
      2,
      '[parameter-value at --merge]',
    ],
    ['a measure of another type', ['collect-data', 'Patient/x', ...PERIOD], 2, "'Patient/x' is not a Measure id."],
    [
      'a subject that does not exist',
      ['collect-data', 'heart-rate-count', '--subject', 'Patient/none', ...PERIOD, ...CONTENT],
      1,
      'Patient/none',
    ],
    ['a misspelt bot', ['execute', 'bni', '--input', file('patient.json'), ...CONTENT], 1, "Did you mean 'bmi'?"],
    ['input that is not JSON', ['execute', 'bmi', '--input', file('broken.json'), ...CONTENT], 1, `${file('broken.json')}:2:7 is not JSON`],
    ['a folder as input', ['execute', 'bmi', '--input', file('folder'), ...CONTENT], 2, `${file('folder')} is a folder`],
    [
      'a bot that fails',
      ['bot', 'run', file('fails.js'), '--input', file('patient.json')],
      1,
      `The bot failed at ${file('fails.js')}:2:13: Error: no luck`,
    ],
    ['a bot with a mistake', ['bot', 'run', file('broken.js'), '--input', file('patient.json')], 1, `${file('broken.js')}:1:`],
    [
      'an absent bot',
      ['bot', 'run', file('absent.js'), '--input', file('patient.json')],
      2,
      `${file('absent.js')} cannot be read: no such file`,
    ],
    ['a folder as bot', ['bot', 'deploy', file('folder'), '--storage', `sqlite:${file('b.db')}`], 2, 'is a folder'],
    [
      'an id with a blank',
      ['bot', 'deploy', file('fails.js'), '--id', 'a b', '--storage', `sqlite:${file('b.db')}`],
      2,
      "'a b' is not an id",
    ],
    ['an absent CQL file', ['cql', file('absent.cql')], 2, `${file('absent.cql')} cannot be read: no such file`],
    ['a resource that is not a Library', ['cql', file('patient.json')], 1, `${file('patient.json')} must be a Library resource`],
    [
      'data that is not a resource',
      ['cql', '--expression', '1', '--data', file('object.json')],
      1,
      'an object with a resourceType is expected',
    ],
    ['CQL with a mistake', ['cql', file('broken.cql')], 1, 'The CQL has errors: Syntax error'],
    ['a folder as CQL', ['cql', file('folder')], 2, 'is a folder'],
    ['a parameter without value', ['cql', '--expression', '1', '--parameter', 'Factor'], 2, '--parameter Factor must be a name'],
    [
      'data that is not JSON',
      ['submit-data', file('broken.json'), '--storage', `sqlite:${file('b.db')}`],
      1,
      `${file('broken.json')}:2:7 is not JSON`,
    ],
    [
      'data that is not collected',
      ['submit-data', file('patient.json'), '--storage', `sqlite:${file('b.db')}`],
      1,
      `${file('patient.json')} must be a Parameters resource, as \`fhir-ops collect-data --json\` prints it`,
    ],
    [
      'absent data',
      ['submit-data', file('absent.json'), '--storage', `sqlite:${file('b.db')}`],
      2,
      `${file('absent.json')} cannot be read`,
    ],
    [
      'a library of another name',
      ['data-requirements', 'Library/none', ...CONTENT],
      1,
      "There is no Library with the id 'none'. [not-found]",
    ],
    [
      'a code in other letters',
      ['lookup', 'Male', '--system', 'http://hl7.org/fhir/administrative-gender'],
      1,
      "Did you mean 'male'? [not-found at code]",
    ],
    [
      'another version of a value set',
      ['expand', 'http://hl7.org/fhir/ValueSet/administrative-gender|9'],
      1,
      "'http://hl7.org/fhir/ValueSet/administrative-gender' is known in another version.",
    ],
    [
      'an address instead of a file',
      ['load', 'http://a.example/x.json', '--storage', `sqlite:${file('b.db')}`],
      2,
      'nothing is downloaded',
    ],
    ['an empty name of a file', ['validate', ''], 2, "There is no file or folder ''."],
    ['a link that leads nowhere but to itself', ['validate', file('loop.json')], 2, 'loop.json cannot be read: too many symbolic links'],
    ['such a link to a package', ['ig', file('loop.json')], 2, 'loop.json cannot be read: too many symbolic links'],
    ['a list of files in one argument', ['validate', 'a/b.json\n'.repeat(10_000)], 2, 'There is no file or folder a/b.json'],
    ['a package whose manifest is not JSON', ['ig', file('guide')], 1, `error: ${file('guide')}: The package's file`],
    ['an empty name of a package', ['ig', ''], 2, "There is no file or folder ''."],
    ['the address of a package', ['ig', 'https://a.example/package.tgz'], 2, 'nothing is downloaded'],
    ['an empty name of a suppression file', ['validate', file('patient.json'), '--suppress', ''], 2, "'' cannot be read"],
    ['an absent release', ['import', 'loinc', file('absent.zip'), '--storage', 'sqlite:x'], 2, `no file or folder ${file('absent.zip')}.`],
    ['an empty host', ['serve', '--port', '0', '--host', ''], 2, "option '--host <host>' argument '' is invalid. It must not be blank."],
    ['an empty file of a demo', ['demo', '--port', '0', '--file', ''], 2, "option '--file <file>' argument '' is invalid"],
    [
      'an empty project',
      ['token', 'create', '--project', '', '--storage', `sqlite:${file('a.db')}`],
      2,
      "'--project <project>' argument ''",
    ],
    ['an empty user', ['token', 'list', '--user', '', '--storage', `sqlite:${file('a.db')}`], 2, "'--user <sub>' argument ''"],
    ['an export to an empty name', ['export', '--out', '', '--storage', `sqlite:${file('a.db')}`], 2, "'--out <folder>' argument ''"],
    ['an empty name of a measure', ['evaluate', '', ...PERIOD, ...CONTENT], 2, "'' is not a Measure id."],
    ['an empty name of a copy', ['backup', '', '--storage', `sqlite:${file('not-a-database.db')}`], 2, 'Name a file for the copy.'],
    [
      'a device as copy',
      ['backup', '/dev/null', '--storage', `sqlite:${file('not-a-database.db')}`],
      2,
      '/dev/null is not a file, so it is not replaced',
    ],
    [
      'a backup to where none can be made',
      ['backup', '/proc/copy.db', '--storage', `sqlite:${file('a.db')}`],
      1,
      `error: Copying ${file('a.db')} to /proc/copy.db: The database file cannot be opened`,
    ],
    ['a folder as database', ['check', '--storage', `sqlite:${file('folder')}`], 2, `${file('folder')} is a folder: name a file in it.`],
    [
      'an export to a file',
      ['export', '--out', file('text.txt'), '--storage', `sqlite:${file('a.db')}`],
      2,
      'text.txt is a file: name a folder.',
    ],
    [
      'an export to a link to itself',
      ['export', '--out', file('loop.json'), '--storage', `sqlite:${file('a.db')}`],
      2,
      'too many symbolic links',
    ],
    ['an export to nowhere', ['export', '--out', '/proc/none/out', '--storage', `sqlite:${file('a.db')}`], 1, '/proc/none cannot be used'],
    ['an export of a misspelt type', ['export', '--type', 'Patiant', '--storage', `sqlite:${file('a.db')}`], 2, "Did you mean 'Patient'?"],
    [
      'a scope that there is not',
      ['token', 'create', '--scope', 'nope', '--storage', `sqlite:${file('a.db')}`],
      2,
      'There is no scope "nope". Examples of scopes: openid, system/*.cruds',
    ],
    [
      'a scope of a misspelt type',
      ['token', 'create', '--scope', 'system/Patiant.rs', '--storage', `sqlite:${file('a.db')}`],
      2,
      "names no resource type. Did you mean 'Patient'?",
    ],
    ['a token where none is asked for', ['mcp', '--dev-token', 'x'], 2, '--dev-token needs --port'],
    ['input in another encoding', ['execute', 'bmi', '--input', file('utf16.json'), ...CONTENT], 1, `${file('utf16.json')} is in UTF-16`],
    ['a parameter with a blank value', ['cql', '--expression', '1', '--parameter', 'Factor= '], 2, '--parameter Factor=  must be a name'],
    ['no data on standard input', ['submit-data', '-', '--storage', `sqlite:${file('b.db')}`], 1, 'stdin:1:1 is not JSON: it is empty.'],
    ['a closure that is lost at once', ['closure', 'visits'], 2, 'is lost when the command ends'],
    ['a version of a code system', ['lookup', 'urgent', '--system', SYSTEM, '--version', '99', ...CONTENT], 1, "'99'"],
    [
      'a backup over something else',
      ['backup', file('text.txt'), '--storage', `sqlite:${file('not-a-database.db')}`],
      2,
      'text.txt is not a database of this adapter, so it is not replaced',
    ],
    [
      'a backup over a folder',
      ['backup', file('folder'), '--storage', `sqlite:${file('not-a-database.db')}`],
      2,
      'is a folder: name a file in it',
    ],
    [
      'a backup into no folder',
      ['backup', file('none/copy.db'), '--storage', `sqlite:${file('not-a-database.db')}`],
      2,
      `There is no folder ${file('none')}.`,
    ],
    ['an export over a file', ['export', '--out', file('text.txt'), '--storage', 'memory'], 2, 'nothing in memory'],
    ['a shell of nobody', ['completion', 'fsh'], 2, 'Allowed choices are bash, zsh, fish'],
    ['a misspelt type', ['schema', 'Patiant'], 1, "Did you mean 'Patient'"],
    [
      'a folder without resources',
      ['load', file('folder'), '--storage', `sqlite:${file('b.db')}`],
      2,
      'There is no .json, .ndjson or .tgz file below',
    ],
    [
      'a release that is none',
      ['import', 'snomed', file('text.txt'), '--storage', `sqlite:${file('i.db')}`],
      1,
      'text.txt is not a ZIP archive',
    ],
  ])('%s', async (_, args, status, words) => {
    const said = await refused(args)
    expect([said.status, said.err]).toEqual([status, expect.stringContaining(words)])
    expect(readFileSync(file('text.txt'), 'utf8')).toBe('hello')
  })

  test.skipIf(process.getuid?.() === 0).each([
    [['validate'], 'secret.json', 'secret.json'],
    [['validate'], 'secret.tgz', 'secret.tgz'],
    [['validate'], 'locked', 'locked'],
    [['validate'], 'locked/patient.json', 'locked/patient.json'],
    [['ig'], 'secret.tgz', 'secret.tgz'],
    [['ig'], 'locked', 'locked'],
    [['cql'], 'secret.json', 'secret.json'],
    [['bot', 'run'], 'secret.json', 'secret.json'],
  ])('%j: %s, to which this user has no access (needs a user other than root)', async (args, name, said) => {
    expect(await refused([...args, file(name)])).toMatchObject({
      status: 2,
      err: expect.stringContaining(`${file(said)} cannot be read: permission denied.`),
    })
  })

  test('an import that cannot begin leaves no file behind', async () => {
    for (const name of ['snomed', 'loinc', 'rxnorm'])
      await refused(['import', name, file('text.txt'), '--storage', `sqlite:${file('new.db')}`])
    expect(readdirSync(folder).filter((name) => name.startsWith('new.db'))).toEqual([])
  })

  test('a CQL file next to one that is not text', async () => {
    const [out, err]: [string[], string[]] = [[], []]
    mkdirSync(file('cql'))
    writeFileSync(file('cql/one.cql'), 'define A: 1')
    writeFileSync(file('cql/._one.cql'), Buffer.from([0, 5, 22, 7, 0xff]))
    const io = { out: (line: string) => void out.push(line), err: (line: string) => void err.push(line), stdin: async () => '', translator }
    expect([await run(['cql', file('cql/one.cql')], io), out]).toEqual([0, ['A  1']])
    expect(err.join('\n')).toContain(`not available to include: ${file('cql/._one.cql')} is not UTF-8`)
  })

  test.each(['serve', 'demo'])('%s: a port in use', async (name) => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? String(address.port) : ''
    const folderOfDemo = name === 'demo' ? ['--file', file('demo.db')] : []
    const { status, err } = await refused([name, '--port', port, ...folderOfDemo])
    server.close()
    expect([status, err]).toEqual([1, expect.stringMatching(/the port is in use \(--port selects another one/)])
  })
})
