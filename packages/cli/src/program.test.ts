import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { Command } from 'commander'
import { OperationError } from 'fhir-ops/errors'
import { builtFile } from '../../../test/built.js'
import { translator } from '../test/translator.fixture.js'
import { allCommands } from './commands/index.js'
import { run } from './program.js'
import { runCommands, type MakeCommand } from './run-commands.js'

const MAIN = builtFile('packages/cli/dist/main.js')
const COMMANDS = await allCommands()
const SAMPLE = fileURLToPath(new URL('../sample', import.meta.url))
let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fhir-ops-cli-'))
})

afterAll(() => rm(folder, { recursive: true }))

async function command(args: readonly string[], stdin = '') {
  const out: string[] = []
  const err: string[] = []
  const status = await run(args, { out: (line) => out.push(line), err: (line) => err.push(line), stdin: async () => stdin, translator })
  return { status, out: out.join('\n'), err: err.join('\n') }
}

describe('help', () => {
  test.each([
    [['help', 'token', 'create'], 'Usage: fhir-ops token create'],
    [['token', 'help', 'create'], 'Usage: fhir-ops token create'],
    [['help', 'token'], 'Usage: fhir-ops token [options] [command]'],
    [['help', 'evaluate-measure'], 'Usage: fhir-ops evaluate'],
    [['help', 'help'], 'Usage: fhir-ops [options] [command]'],
    [['help'], 'Usage: fhir-ops [options] [command]'],
  ])('%j', async (args, wanted) => {
    expect(await command(args)).toMatchObject({ status: 0, out: expect.stringContaining(wanted) })
  })

  test('says that serve takes data as it is', async () => {
    expect((await command(['serve', '--help'])).out.replaceAll(/\s+/g, ' ')).toMatch(
      /--validate-writes .*?\(choices: "none", "structure", "full", default: "none"\)/,
    )
  })

  test.each(COMMANDS.map((make) => make({ out: () => {}, err: () => {}, stdin: async () => '' }).name()))(
    '%s has --help with an example',
    async (name) => {
      const { status, out } = await command([name, '--help'])
      expect(status).toBe(0)
      expect(out).toMatch(/Example:\n {2}.*fhir-ops/)
    },
  )

  test.each([
    'translate',
    'expand',
    'lookup',
    'validate-code',
    'subsumes',
    'compare',
    'closure',
    'evaluate',
    'data-requirements',
    'collect-data',
  ])('the example of %s succeeds on the sample content', async (name) => {
    const { out } = await command([name, '--help'])
    const example = out.slice(out.indexOf('Example:')).replaceAll('\\\n', ' ')
    const [program, ...args] = example.replace('Example:', '').replace('content.db', join(folder, 'example.db')).trim().split(/\s+/)
    expect(program).toBe('fhir-ops')
    expect(await command(args)).toMatchObject({ status: 0 })
  })

  test('every operation that README lists has a command of its name', () => {
    const readme = readFileSync(fileURLToPath(new URL('../../../README.md', import.meta.url)), 'utf8')
    const [, table = ''] = /\n## Operations\n([^]*?)\n## /.exec(readme) ?? []
    const listed = new Set([...table.matchAll(/\$([a-z-]+)`/g)].map(([, name]) => name))
    expect([...listed]).toEqual(expect.arrayContaining(['translate', 'submit-data', 'cql']))
    const made = COMMANDS.map((make) => make({ out: () => {}, err: () => {}, stdin: async () => '' }))
    const names = made.flatMap((one) => [one.name(), ...one.aliases()])
    expect([...listed].filter((name) => name === undefined || !names.includes(name))).toEqual([])
  })

  test('bot runs the code of a file, and stores it', async () => {
    const file = join(folder, 'twice.js')
    await writeFile(file, "export const handler = ({ input }, { log }) => { log('got', input.n); return { twice: input.n * 2 } }")
    expect(await command(['bot', 'run', file], '{"n":2}')).toEqual({ status: 0, out: '{"twice":4}', err: 'info: got 2' })
    const storage = `sqlite:${join(folder, 'bots.db')}`
    expect(await command(['bot', 'deploy', file, '--storage', storage])).toMatchObject({ status: 0, err: 'stored Bot/twice' })
    await writeFile(file, 'export const handler = () => 3')
    expect(await command(['bot', 'deploy', file, '--storage', storage, '--id', 'three'])).toMatchObject({ status: 0 })
    expect(await command(['execute', 'three', '--storage', storage], '{}')).toMatchObject({ status: 0, out: '3' })
    expect(await command(['execute', 'twice', '--storage', storage], '{"n":5}')).toMatchObject({ out: '{"twice":10}' })
    expect(await command(['execute', 'twice', '--input', '-', '--storage', storage], '{"n":6}')).toMatchObject({ out: '{"twice":12}' })
    expect(await command(['bot', 'run', join(folder, 'none.js')], '{}')).toMatchObject({ status: 2 })
    expect(await command(['bot', 'deploy', file, '--storage', 'memory'])).toMatchObject({ status: 2 })
  })

  test('bot refuses to store code with a syntax error, and says where it is', async () => {
    const file = join(folder, 'broken.js')
    await writeFile(file, 'export const handler = () => {\n  return )\n}')
    const storage = `sqlite:${join(folder, 'broken.db')}`
    const { status, err } = await command(['bot', 'deploy', file, '--storage', storage])
    expect([status, err]).toEqual([1, expect.stringMatching(/broken\.js:2:\d+: SyntaxError: /)])
    expect(await command(['execute', 'broken', '--storage', storage], '{}')).toMatchObject({
      status: 1,
      err: expect.stringContaining('not-found'),
    })
  })

  test('schema prints the schema of a type, and what it does not express', async () => {
    const { status, out, err } = await command(['schema', 'HumanName'])
    expect([status, JSON.parse(out).$ref, err]).toEqual([0, '#/$defs/HumanName', expect.stringContaining('--unexpressed lists them')])
    expect((await command(['schema', 'Patient', '--unexpressed'])).out).toMatch(/^invariant +Patient.contact +pat-1: /m)
    expect(await command(['schema', 'Patiant'])).toMatchObject({ status: 1, err: expect.stringContaining("'Patiant'") })
  })

  test('snapshot prints a definition with its snapshot, and what cannot be applied', async () => {
    const type = {
      resourceType: 'StructureDefinition',
      url: 'http://example.org/own',
      type: 'Patient',
      kind: 'resource',
      derivation: 'constraint',
    }
    const baseDefinition = 'http://hl7.org/fhir/StructureDefinition/Patient'
    const file = join(folder, 'own.json')
    const write = async (...element: object[]): Promise<void> =>
      writeFile(file, JSON.stringify({ ...type, baseDefinition, differential: { element } }))
    await write({ path: 'Patient.name', min: 1 })
    const { status, out, err } = await command(['snapshot', file])
    const elements = JSON.parse(out).snapshot.element
    expect([status, err, elements.find(({ id }: { id: string }) => id === 'Patient.name').min]).toEqual([0, '', 1])
    await write({ path: 'Patient.nam', min: 1 })
    const wrong = await command(['snapshot', file])
    expect(wrong).toMatchObject({ status: 1, err: expect.stringContaining('StructureDefinition.differential.element[0]: No match found') })
    expect(await command(['snapshot', '--url', baseDefinition])).toMatchObject({ status: 0, err: '' })
    expect(await command(['snapshot', '--url', 'urn:none'])).toMatchObject({ status: 1, err: expect.stringContaining("'urn:none'") })
  })

  test.each(['create', 'list', 'revoke'])('token %s has --help with an example', async (name) => {
    expect((await command(['token', name, '--help'])).out).toContain(`fhir-ops token ${name}`)
  })
})

describe('wrong use', () => {
  test.each([
    ['an unknown command', ['expnd'], 2, 'expand'],
    ['codes of a closure without their system', ['closure', 'visits', 'a'], 2, '--system is missing'],
    ['standard input beside files', ['validate', '-', 'x.json'], 2, 'cannot be read together with files'],
    ['a watch of standard input', ['validate', '--watch', '-'], 2, '--watch needs files or folders'],
    ['an unknown option', ['expand', 'u', '--filtr', 'x'], 2, '--filter'],
    ['a missing argument', ['expand'], 2, 'url'],
    ['a port that is not a number', ['serve', '--port', 'x'], 2, 'whole number'],
    ['a port that there is not', ['serve', '--port', '65536'], 2, '65535'],
    ['an unknown storage', ['expand', 'u', '--storage', 'redis'], 2, 'sqlite:FILE'],
    ['an address of another machine', ['serve', '--host', '192.0.2.1', '--port', '0'], 1, 'address not available'],
    ['an open server on a public interface', ['serve', '--host', '0.0.0.0', '--no-auth'], 2, 'loopback'],
    ['a development token that no header can carry', ['serve', '--dev-token', 'a b'], 2, 'ASCII'],
    [
      'a misspelt scope',
      ['token', 'create', '--storage', 'sqlite:nothing.db', '--scope', 'sytem/*.rs'],
      2,
      'There is no scope "sytem/*.rs". A scope of resources has a form such as',
    ],
    ['an empty development token', ['serve', '--dev-token', ''], 2, 'ASCII'],
    ['a development token on a public interface', ['serve', '--host', '0.0.0.0', '--dev-token', 'x'], 2, 'loopback'],
    ['more threads than a machine carries', ['load', 'x', '--storage', 'sqlite:x', '--threads', '65'], 2, 'from 0 to 64'],
    ['an input that does not exist', ['execute', 'bmi', '--input', 'nothing.json'], 2, 'nothing.json cannot be read: no such file'],
    ['an expansion from a file that does not exist', ['expand', 'u', '--storage', 'sqlite:no.db'], 2, 'There is no file no.db.'],
    ['an export of a file that does not exist', ['export', '--storage', 'sqlite:nothing.db'], 2, 'There is no file nothing.db.'],
    [
      'a list of tokens of a file that does not exist',
      ['token', 'list', '--storage', 'sqlite:nothing.db'],
      2,
      'There is no file nothing.db.',
    ],
    ['a check of a folder', ['check', '--storage', 'sqlite:.'], 2, '. is a folder: name a file in it.'],
    ['a check of no file', ['check', '--storage', 'sqlite:'], 2, '--storage must be sqlite:FILE.'],
    ['a backup of no file', ['backup', 'copy.db', '--storage', 'sqlite:'], 2, '--storage must be sqlite:FILE.'],
    ['an export of what is gone', ['export', '--storage', 'memory'], 2, 'nothing in memory'],
    ['a release that does not exist', ['import', 'loinc', 'nowhere', '--storage', 'sqlite:x.db'], 2, 'There is no file or folder nowhere.'],
    ['a storage with a password in its address', ['expand', 'u', '--storage', 'http://u:pw@x.example/fhir'], 2, 'without user'],
    ['a storage that no http address leads to', ['expand', 'u', '--storage', 'http:ftp://x.example'], 2, 'http:URL'],
    ['a bot without input', ['execute', 'bmi'], 1, 'The bot has no input: give JSON'],
    [
      'a SQLite file in no folder',
      ['load', SAMPLE, '--storage', 'sqlite:/no/such/folder/x.db'],
      1,
      '/no/such/folder/x.db: The database file',
    ],
    ['content that was not loaded', ['expand', 'http://example.org/fhir/ValueSet/mine'], 1, '--load FILE and --storage sqlite:FILE'],
    ['a misspelt type', ['schema', 'Patint'], 1, "Did you mean 'Patient'"],
    ['two scopes in one', ['token', 'create', '--storage', 'sqlite:nothing.db', '--scope', 'openid email'], 2, 'each scope'],
    ['a token of nobody', ['token', 'create', '--storage', 'sqlite:nothing.db', '--user', ''], 2, 'visible ASCII'],
    ['a token about no patient', ['token', 'create', '--storage', 'sqlite:nothing.db', '--patient', 'a/b'], 2, 'id of a Patient'],
    ['an address with a query', ['serve', '--base-url', 'https://x.example/?a=1'], 2, 'without user, query'],
    ['the address of FHIR itself', ['serve', '--base-url', 'https://x.example/fhir/R4'], 2, 'above /fhir/R4'],
    ['an issuer that anybody can listen to', ['serve', '--port', '0', '--issuer', 'http://x.example', '--audience', 'a'], 2, 'https'],
    [
      'an unknown operation',
      ['serve', '--port', '0', '--delegate', '$expand', '--delegate-to', 'http://x.example'],
      2,
      'there are batch-validate-code, closure',
    ],
    ['credentials of all origins', ['serve', '--cors', '*', '--cors-credentials'], 2, 'origins by name'],
    ['an origin with a path', ['serve', '--cors', 'https://a.example/x'], 2, 'without a path'],
    ['a misspelt option of a subcommand', ['token', 'create', '--nothing'], 2, 'add --help'],
    ['a token in a storage that ends with the command', ['token', 'create', '--storage', 'memory'], 2, 'sqlite:FILE'],
  ])('%s is told with what helps', async (_, args, status, hint) => {
    const result = await command(args)
    expect([result.status, result.err]).toEqual([status, expect.stringContaining(hint)])
  })
})

test.each([
  ['sqlite:a.db', 'a.db: The disk is full.'],
  ['postgres://me:secret@db.example:5432/clinic', 'postgres://db.example:5432/clinic: The disk is full.'],
  ['memory', 'error: The disk is full.'],
])('what happens to a storage while a command works is said with its name: %s', async (storage, said) => {
  const err: string[] = []
  const write: MakeCommand = () =>
    new Command('write').option('--storage <storage>').action(() => {
      throw new OperationError('storage-full', 'The disk is full.')
    })
  expect(
    await runCommands([write], ['write', '--storage', storage], {
      out: () => {},
      err: (line) => void err.push(line),
      stdin: async () => '',
    }),
  ).toBe(1)
  expect(err.join('\n')).toContain(said)
  expect(err.join('\n')).not.toContain('secret')
})

test('a scope that there is not is wrong use of token create', async () => {
  const storage = `sqlite:${join(folder, 'scopes.db')}`
  await command(['load', SAMPLE, '--storage', storage])
  const result = await command(['token', 'create', '--storage', storage, '--scope', 'foo'])
  expect(result).toMatchObject({ status: 2, out: '', err: expect.stringContaining('There is no scope "foo"') })
})

test('a token in a file that does not exist makes none', async () => {
  const file = join(folder, 'typo.db')
  const result = await command(['token', 'create', '--storage', `sqlite:${file}`])
  expect(result).toMatchObject({ status: 2, out: '', err: expect.stringContaining(`There is no file ${file}.`) })
  expect(existsSync(file)).toBe(false)
})

test.skipIf(!existsSync('/proc'))('demo ends where its folder cannot be made (needs /proc)', async () => {
  const result = await command(['demo', '--port', '0', '--file', '/proc/folder/other/demo.db'])
  expect(result).toMatchObject({ status: 1, err: expect.stringContaining('/proc/folder cannot be used') })
})

test('demo takes its port from the environment', async () => {
  vi.stubEnv('PORT', '65536')
  const result = await command(['demo'])
  vi.unstubAllEnvs()
  expect([result.status, result.err]).toEqual([2, expect.stringMatching(/PORT.*65535/s)])
})

test.each([
  ['--base-url', 'https://me:hidden@x.example'],
  ['--issuer', 'https://:hidden@x.example'],
  ['--delegate-to', 'https://x.example/?key=hidden'],
  ['--dev-token', 'hidden, too'],
  ['--storage', 'http://me:hidden@x.example/fhir'],
])('a wrong value of %s, which may hold a secret, is not repeated', async (option, value) => {
  const { status, err } = await command(['serve', '--port', '0', option, value])
  expect([status, err]).toEqual([2, expect.stringContaining(option)])
  expect(err).not.toContain('hidden')
})

describe('operations over loaded content', () => {
  const translate = ['translate', 'urgent', '--system', 'http://example.org/fhir/CodeSystem/visit-priority', '--load', SAMPLE]
  const map = 'http://example.org/fhir/ConceptMap/visit-priority-to-act-priority'

  test('translate prints a line for each match', async () => {
    const { status, out, err } = await command([...translate, '--url', map])
    expect([status, out]).toEqual([0, 'equivalent  http://terminology.hl7.org/CodeSystem/v3-ActPriority|UR  urgent'])
    expect(err).toContain('loaded 15 resources')
  })

  test('translate prints Parameters as JSON', async () => {
    const { out } = await command([...translate, '--map', 'visit-priority-to-act-priority', '--json'])
    expect(JSON.parse(out)).toMatchObject({ resourceType: 'Parameters' })
  })

  test('translate exits with 1 when nothing matches', async () => {
    const { status, out } = await command([...translate, '--url', map, '--target-system', 'http://example.org/other'])
    expect([status, out]).toEqual([1, expect.stringContaining('urgent')])
  })

  test('translate names the map that does not exist', async () => {
    expect(await command([...translate, '--url', 'http://nowhere'])).toMatchObject({
      status: 1,
      err: expect.stringContaining('[not-found'),
    })
  })

  const priority = ['--system', 'http://example.org/fhir/CodeSystem/visit-priority', '--load', SAMPLE]

  test('lookup prints what the code system says', async () => {
    const { status, out } = await command(['lookup', 'urgent', ...priority])
    expect([status, out]).toEqual([0, expect.stringMatching(/^display +Urgent/m)])
    expect(await command(['lookup', 'nothing', ...priority])).toMatchObject({ status: 1, err: expect.stringContaining("'nothing'") })
  })

  test('validate-code says whether a code is valid, with the exit status too', async () => {
    const valueSet = ['--value-set', 'http://example.org/fhir/ValueSet/visit-priority']
    expect(await command(['validate-code', 'urgent', ...priority, ...valueSet])).toMatchObject({
      status: 0,
      out: 'valid: Urgent, same day',
    })
    const wrong = await command(['validate-code', 'nothing', ...priority])
    expect([wrong.status, wrong.out]).toEqual([1, expect.stringMatching(/^not valid\nerror: /)])
  })

  test('subsumes and compare print one word', async () => {
    expect(await command(['subsumes', 'urgent', 'urgent', ...priority])).toMatchObject({ status: 0, out: 'equivalent' })
    const types = ['http://hl7.org/fhir/ValueSet/resource-types', 'http://hl7.org/fhir/ValueSet/all-types']
    expect(await command(['compare', ...types])).toMatchObject({ status: 0, out: 'subset' })
  })

  test('tables show control characters of definitions, which would start other rows or control the terminal', async () => {
    const content = join(folder, 'controls.ndjson')
    const system = 'http://example.org/fhir/CodeSystem/controls'
    const concept = [{ code: 'a', display: 'A\nb  \u001b[31mB\u009b' }]
    const resources = [
      { resourceType: 'CodeSystem', id: 'controls', url: system, status: 'active', content: 'complete', concept },
      { resourceType: 'ValueSet', id: 'controls', url: 'http://example.org/all', status: 'active', compose: { include: [{ system }] } },
    ]
    await writeFile(content, resources.map((resource) => JSON.stringify(resource)).join('\n'))
    const shown = String.raw`A\nb  \u001b[31mB\u009b`
    expect((await command(['expand', 'http://example.org/all', '--load', content])).out).toBe(`a  ${shown}  ${system}`)
    expect((await command(['lookup', 'a', '--system', system, '--load', content])).out).toContain(`display   ${shown}\n`)
    expect((await command(['validate-code', 'a', '--system', system, '--load', content])).out).toBe(`valid: ${shown}`)
  })

  test('closure keeps a table in the storage', async () => {
    const file = join(folder, 'closure.db')
    const storage = ['--storage', `sqlite:${file}`]
    expect(await command(['closure', 'visits', ...storage, '--load', SAMPLE])).toMatchObject({
      status: 0,
      err: expect.stringMatching(/version 0$/),
    })
    const added = await command([
      'closure',
      'visits',
      'urgent',
      'planned',
      '--system',
      'http://example.org/fhir/CodeSystem/visit-priority',
      ...storage,
    ])
    expect(added).toMatchObject({ status: 0, err: 'version 1' })
  })

  test('collect-data lists what a measure looks at, and submit-data stores it with its numbers as they are', async () => {
    const from = `sqlite:${join(folder, 'collected.db')}`
    const heartRate = { resourceType: 'Observation', id: 'exact', status: 'final', subject: { reference: 'Patient/p' } }
    const coded = {
      ...heartRate,
      code: { coding: [{ system: 'http://example.org/fhir/CodeSystem/measurement', code: 'heart-rate' }] },
      effectiveDateTime: '2026-01-01',
    }
    const text = JSON.stringify(coded).replace('"status"', '"valueQuantity":{"value":80.50},"status"')
    await writeFile(join(folder, 'exact.json'), text)
    await command(['load', SAMPLE, join(folder, 'exact.json'), '--storage', from])
    const collect = ['collect-data', 'heart-rate-count', '--period-start', '2026', '--period-end', '2026', '--storage', from]
    expect((await command(collect)).out.split('\n')).toContain('Observation/exact')
    const collected = (await command([...collect, '--json'])).out
    await writeFile(join(folder, 'data.json'), collected)
    const into = ['--storage', `sqlite:${join(folder, 'submitted.db')}`]
    const stored = await command(['submit-data', join(folder, 'data.json'), ...into])
    expect(stored).toMatchObject({ status: 0, out: expect.stringMatching(/^201 .*MeasureReport\/[^]*^201 .*Observation\/exact/m) })
    expect((await command(['export', '--out', join(folder, 'submitted'), ...into])).status).toBe(0)
    expect(readFileSync(join(folder, 'submitted/Observation.ndjson'), 'utf8')).toContain('80.50')
    const other = await command(['submit-data', '-', '--measure', 'none', ...into], collected)
    expect(other).toMatchObject({ status: 1, err: expect.stringContaining('none') })
  })

  test('expand prints codes and their number', async () => {
    const { out, err } = await command(['expand', 'http://example.org/fhir/ValueSet/visit-priority', '--filter', 'urg', '--load', SAMPLE])
    expect(out).toMatch(/^urgent {2}Urgent, same day {2}/)
    expect(err).toContain('1 code in all')
  })

  test('expand and translate say how they came to their answer', async () => {
    const expanded = await command(['expand', 'http://example.org/fhir/ValueSet/visit-priority', '--explain', '--load', SAMPLE])
    expect(expanded.err).toContain("'http://example.org/fhir/ValueSet/visit-priority")
    expect(expanded.err).toMatch(/Includes codes of 'http:\/\/example\.org\/fhir\/CodeSystem\/visit-priority[^']*': \d+ codes\./)
    const [name, , ...options] = translate
    const translated = await command([name ?? '', 'urgnet', ...options, '--url', map, '--explain'])
    expect(translated.err).toContain('Near: urgent')
  })

  test('evaluate prints a count for each population', async () => {
    const { out } = await command(['evaluate', 'heart-rate-count', '--period-start', '2026', '--period-end', '2026', '--load', SAMPLE])
    expect(out).toBe('group 1  measure-population  3\ngroup 2  measure-population  3')
  })

  test('evaluate --watch prints the counts again when somebody else has changed them', async () => {
    const file = join(folder, 'watched.db')
    const storage = ['--storage', `sqlite:${file}`]
    await command(['load', SAMPLE, ...storage])
    const more = join(folder, 'one-more.ndjson')
    const observation = {
      resourceType: 'Observation',
      id: 'one-more',
      status: 'final',
      code: { coding: [{ system: 'http://example.org/fhir/CodeSystem/measurement', code: 'heart-rate' }] },
      effectiveDateTime: '2026-01-01',
    }
    await writeFile(more, `${JSON.stringify(observation)}\n`)
    const reports: string[][] = []
    const out = (line: string): void => {
      if (/^\d{4}-/.test(line)) reports.push([])
      else reports.at(-1)?.push(line.replace(/.* /, ''))
      if (reports.length === 1 && reports[0]?.length === 2) void command(['load', more, ...storage])
      // A command is ended from outside; here by its output, which is gone.
      if (reports[1]?.length === 2) throw new Error('closed')
    }
    const args = ['evaluate', 'heart-rate-count', '--period-start', '2026', '--period-end', '2026', '--watch', ...storage]
    await run(args, { out, err: () => {}, stdin: async () => '' }).catch(() => undefined)
    expect(reports).toEqual([
      ['3', '3'],
      ['3', '4'],
    ])
  })
})

describe('validate', () => {
  test('accepts the samples', async () => {
    const { status, out, err } = await command(['validate', '--load', SAMPLE, join(SAMPLE, 'patients.json')])
    expect([status, out, err]).toEqual([0, '', expect.stringContaining('1 resource checked: 1 valid, 0 invalid')])
    expect(err).not.toContain('warning')
  })

  test('reads standard input, names the place and exits with 1', async () => {
    const { status, out } = await command(['validate'], '{"resourceType":"Patient","name":[{"family":"x","foo":"bar"}]}')
    expect([status, out.split('\n')[0]]).toEqual([
      1,
      'stdin:1:55: error at Patient.name[0].foo: Invalid additional property "Patient.name[0].foo" [unknown-property]',
    ])
  })

  test('reads standard input by its usual name', async () => {
    const lines = '{"resourceType":"Patient"}\n{"resourceType":"Patient","active":"yes"}\n'
    expect(await command(['validate', '-'], lines)).toMatchObject({
      status: 1,
      out: expect.stringContaining('stdin:2:'),
      err: expect.stringContaining('2 resources checked: 1 valid, 1 invalid'),
    })
  })

  test('does not take a folder without resources for one without mistakes', async () => {
    await writeFile(join(folder, 'empty.ndjson'), '')
    expect(await command(['validate', join(folder, 'empty.ndjson')])).toMatchObject({
      status: 1,
      err: expect.stringContaining('no resource'),
    })
  })

  test('prints one OperationOutcome a line as JSON', async () => {
    const file = join(folder, 'two.ndjson')
    await writeFile(file, '{"resourceType":"Patient"}\n{"resourceType":"Patient","active":"yes"}\n')
    const { out } = await command(['validate', file, '--json'])
    expect(out.split('\n').map((line) => JSON.parse(line).resourceType)).toEqual(['OperationOutcome', 'OperationOutcome'])
  })
})

test('the command tells its version', async () => {
  expect(await command(['--version'])).toMatchObject({ status: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+/) })
})

test('nothing is loaded into a memory that nobody will read', async () => {
  expect(await command(['load', SAMPLE, '--storage', 'memory'])).toMatchObject({
    status: 2,
    err: expect.stringContaining('name another storage'),
  })
})

describe('a SQLite file', () => {
  const storage = (): readonly string[] => ['--storage', `sqlite:${join(folder, 'content.db')}`]

  test('is filled by load and read by other commands', async () => {
    expect((await command(['load', SAMPLE, ...storage()])).status).toBe(0)
    const { out } = await command(['expand', 'http://example.org/fhir/ValueSet/visit-priority', ...storage()])
    expect(out.split('\n')).toHaveLength(6)
    expect(await command(['check', ...storage()])).toMatchObject({ status: 0, err: 'no damage found' })
  })

  test('is not made by a load of nothing', async () => {
    const other = join(folder, 'none.db')
    expect(await command(['load', join(folder, 'nofile'), '--storage', `sqlite:${other}`])).toMatchObject({ status: 2 })
    expect(existsSync(other)).toBe(false)
  })

  test('holds tokens that are made, listed and revoked', async () => {
    const { out } = await command(['token', 'create', ...storage(), '--user', 'nurse', '--json'])
    const issued: unknown = JSON.parse(out)
    expect(issued).toEqual({ token: expect.stringMatching(/^fo_/), loginId: expect.any(String), expiresAt: expect.any(String) })
    const loginId = JSON.parse(out).loginId
    const listed = await command(['token', 'list', ...storage(), '--user', 'nurse'])
    expect([listed.out, listed.err]).toEqual([expect.stringContaining(loginId), '1 active session of nurse'])
    expect((await command(['token', 'revoke', loginId, ...storage()])).status).toBe(0)
    expect((await command(['token', 'list', ...storage(), '--user', 'nurse', '--json'])).out).toBe('[]')
    expect((await command(['token', 'revoke', 'nobody', ...storage()])).status).toBe(1)
  })
})

describe('a hyphen is standard input', () => {
  const BOT = 'export const handler = () => 7'
  const sampled = (name: string): string => readFileSync(join(SAMPLE, name), 'utf8')
  const patient = '{"resourceType":"Patient","id":"p","birthDate":"1980-02-03"}'
  const profile = JSON.stringify({
    resourceType: 'StructureDefinition',
    url: 'http://example.org/p',
    name: 'P',
    status: 'draft',
    kind: 'resource',
    abstract: false,
    type: 'Patient',
    baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Patient',
    derivation: 'constraint',
    differential: { element: [{ id: 'Patient', path: 'Patient' }] },
  })
  const bmi = '{"weightKg":61.5,"heightM":1.68}'

  test.each<[args: readonly string[], stdin: string, out: RegExp]>([
    [['cql', '-'], 'library X\ndefine A: 1 + 1', /A +2/],
    [
      ['cql', '-'],
      '{"resourceType":"Library","name":"X","content":[{"contentType":"text/cql","data":"bGlicmFyeSBYIGRlZmluZSBBOiAx"}]}',
      /A +1/,
    ],
    [['cql', '--expression', '[Patient] P return P.id.value', '--subject', 'Patient/p', '--data', '-'], patient, /'p'/],
    [['snapshot', '-'], profile, /"snapshot"/],
    [['validate', '-'], patient, /^$/],
    [['execute', 'bmi', '--load', SAMPLE, '--input', '-'], bmi, /21\.8/],
    [['expand', 'http://example.org/fhir/ValueSet/visit-priority', '--load', '-'], `${sampled('valueset-priority.json')}`, /^$/],
    [
      ['lookup', 'urgent', '--system', 'http://example.org/fhir/CodeSystem/visit-priority', '--load', '-'],
      sampled('codesystem-priority.json'),
      /Urgent/,
    ],
    [['bot', 'run', '-', '--input', join(SAMPLE, 'valueset-priority.json')], BOT, /7/],
    [['validate', join(SAMPLE, 'valueset-priority.json'), '--suppress', '-'], '[]', /^$/],
  ])('%j', async (args, stdin, out) => {
    const answer = await command(args, stdin)
    if (!args.includes('expand')) expect(answer).toMatchObject({ status: 0, out: expect.stringMatching(out) })
    else expect(answer.err).toMatch(/visit-priority/)
  })

  test('of a bot that is stored, which then needs an id', async () => {
    const storage = `sqlite:${join(folder, 'hyphen.db')}`
    expect(await command(['bot', 'deploy', '-', '--storage', storage], BOT)).toMatchObject({
      status: 2,
      err: expect.stringMatching(/--id/),
    })
    expect(await command(['bot', 'deploy', '-', '--id', 'seven', '--storage', storage], BOT)).toMatchObject({ status: 0 })
    expect(await command(['execute', 'seven', '--storage', storage], '{}')).toMatchObject({ status: 0, out: '7' })
  })

  test.each<readonly string[]>([
    ['ig', '-'],
    ['import', 'loinc', '-', '--storage', 'sqlite:none.db'],
  ])('but not where an archive is read: %s', async (...args) => {
    expect(await command(args)).toMatchObject({ status: 2, err: expect.stringContaining('Standard input (-) is not read here') })
  })

  test.each<readonly string[]>([
    ['snapshot', '-'],
    ['cql', '-'],
    ['cql', '--expression', '1', '--data', '-'],
  ])('and when it is empty, that is said: %s', async (...args) => {
    expect(await command(args)).toMatchObject({ status: 1, err: expect.stringMatching(/stdin/) })
  })

  test('which is read once', async () => {
    const { status, stderr } = spawnSync(process.execPath, [MAIN, 'cql', '-', '--data', '-'], {
      encoding: 'utf8',
      input: 'library X define A: 1',
    })
    expect([status, stderr]).toEqual([2, expect.stringContaining('Standard input (-) can be read only once')])
  })
})

test('a blank text to check is wrong use, as of a variable that is not set', async () => {
  const args = ['validate-code', 'male', '--system', 'http://hl7.org/fhir/administrative-gender']
  for (const option of ['--display', '--version', '--value-set', '--system']) {
    const { status, err } = await command([...args, option, ''])
    expect([option, status, err]).toEqual([option, 2, expect.stringMatching(/must not be blank/)])
  }
})
