import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { configSchema } from './config.js'
import { program, run } from './program.js'

const SAMPLE = fileURLToPath(new URL('../sample', import.meta.url))
const SCHEMA = fileURLToPath(new URL('../fhir-ops.config.schema.json', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'fhir-ops-config-'))
const file = join(folder, 'options.json')
afterEach(() => vi.unstubAllEnvs())
afterAll(() => rmSync(folder, { recursive: true }))

/** Runs a command line beside a file with these options. */
async function command(config: object | string, ...args: readonly string[]): Promise<{ status: number; out: string; err: string }> {
  writeFileSync(file, typeof config === 'string' ? config : JSON.stringify(config, undefined, 2))
  vi.stubEnv('FHIR_OPS_CONFIG', file)
  const [out, err]: [string[], string[]] = [[], []]
  const status = await run(args, { out: (line) => void out.push(line), err: (line) => void err.push(line), stdin: async () => '' })
  return { status, out: out.join('\n'), err: err.join('\n') }
}

const LOOKUP = ['lookup', 'urgent', '--system', 'http://example.org/fhir/CodeSystem/visit-priority']

describe('fhir-ops.config.json', () => {
  test('gives every command what it has in common, and one what is its own', async () => {
    expect(await command({ defaults: { load: [SAMPLE] } }, ...LOOKUP)).toMatchObject({ status: 0, out: expect.stringContaining('Urgent') })
    expect(await command({ lookup: { load: [SAMPLE], json: true } }, ...LOOKUP)).toMatchObject({
      out: expect.stringContaining('"Parameters"'),
    })
    expect(await command({ expand: { load: [SAMPLE] } }, ...LOOKUP)).toMatchObject({ status: 1 })
  })

  test('stands for a required option, and below the command line', async () => {
    const storage = `sqlite:${join(folder, 'tokens.db')}`
    expect(await command({ load: { storage } }, 'load', SAMPLE)).toMatchObject({ status: 0 })
    const config = { defaults: { storage: 'memory' }, token: { list: { storage } } }
    expect(await command(config, 'token', 'list', '--json')).toMatchObject({ status: 0, out: '[]' })
    expect(await command(config, 'token', 'list', '--json', '--storage', 'memory')).toMatchObject({ status: 2 })
  })

  test.each<[string, object | string, string]>([
    ['a misspelt member', { serve: { prot: 8081 } }, `${file}:3:13: serve.prot is not known. Did you mean 'port'?`],
    ['a misspelt command', { sreve: {} }, `${file}:2:12: sreve is not known. Did you mean 'serve'?`],
    ['a number as a text', { serve: { port: '8081' } }, `${file}:3:13: serve.port must be integer`],
    ['a text for a list', { defaults: { load: 'x' } }, `${file}:3:13: defaults.load must be array`],
    ['an item of a list', { defaults: { load: ['x', 3] } }, `${file}:5:7: defaults.load.1 must be string`],
    ['another choice', { serve: { log: 'some' } }, `${file}:3:12: serve.log must be equal to one of the allowed values: failures, all`],
    ['what the option refuses', { serve: { cors: ['https://a.example/x'] } }, `${file}: serve.cors: It must be an origin`],
    ['a list', '[]', `${file}:1:1: the file must be object`],
    ['no JSON', '{\n  "serve": {\n}', `${file}:3:2: this is not JSON: unexpected end of the text.`],
    ['a comma too many', '{\n  "serve": {},\n}', `${file}:3:1: this is not JSON: unexpected`],
    ['nothing', ' \n', `${file} is empty: delete it, or write {} into it.`],
    ['XML', '<config/>', `${file}:1:1: this is not JSON: it is XML or HTML; only JSON is read.`],
  ])('is refused with the place: %s', async (_, config, message) => {
    expect(await command(config, ...LOOKUP)).toMatchObject({ status: 2, out: '', err: expect.stringContaining(message) })
  })

  test.each([[['--version']], [['--help']], [['help', 'token', 'create']], [['token', 'create', '--help']]])(
    'does not prevent %j',
    async (args) => {
      expect(await command('{', ...args)).toMatchObject({ status: 0, err: '' })
    },
  )

  test('that is named and not there is refused', async () => {
    vi.stubEnv('FHIR_OPS_CONFIG', join(folder, 'none.json'))
    const err: string[] = []
    expect(await run(LOOKUP, { out: () => {}, err: (line) => void err.push(line), stdin: async () => '' })).toBe(2)
    expect(err.join()).toContain('none.json cannot be read: no such file or directory.')
  })

  test('that is a folder, or in another encoding, is refused as what it is', async () => {
    const err: string[] = []
    const io = { out: () => {}, err: (line: string) => void err.push(line), stdin: async () => '' }
    vi.stubEnv('FHIR_OPS_CONFIG', folder)
    expect(await run(LOOKUP, io)).toBe(2)
    writeFileSync(join(folder, 'wide.json'), '\uFEFF{}', 'utf16le')
    vi.stubEnv('FHIR_OPS_CONFIG', join(folder, 'wide.json'))
    expect(await run(LOOKUP, io)).toBe(2)
    expect(err.join()).toMatch(/cannot be read: illegal operation on a directory\..*wide\.json is in UTF-16; UTF-8 is expected\./)
  })

  test('has a schema that is published', async () => {
    const schema = configSchema(await program({ out: () => {}, err: () => {}, stdin: async () => '' }))
    await expect(`${JSON.stringify(schema, undefined, 2)}\n`).toMatchFileSnapshot(SCHEMA)
    expect(new Ajv2020().validateSchema(schema)).toBe(true)
  })
})
