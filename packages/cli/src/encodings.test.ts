import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { run } from './program.js'

const folder = mkdtempSync(join(tmpdir(), 'fhir-ops-encodings-'))
const file = (name: string): string => join(folder, name)
const MULLER = '{"resourceType":"Patient","id":"m",\n "name":[{"family":"Müller"}]}'

beforeAll(() => {
  // As `>` of Windows PowerShell writes it.
  for (const name of ['wide.json', 'wide.ndjson', 'wide.cql', 'wide.js']) writeFileSync(file(name), `\u{FEFF}${MULLER}`, 'utf16le')
  writeFileSync(file('latin1.json'), MULLER, 'latin1')
  writeFileSync(file('latin1.ndjson'), MULLER, 'latin1')
  for (const name of ['packed.json', 'packed.ndjson', 'packed.cql', 'packed.js']) writeFileSync(file(name), gzipSync(MULLER))
  writeFileSync(file('zstd.json'), zstdCompressSync(MULLER))
  for (const [name, start] of Object.entries(STARTS)) writeFileSync(file(name), Buffer.from(start, 'latin1'))
})
/** Files of other kinds, by how they begin. */
const STARTS = {
  'zip.json': 'PK\u0003\u0004\u0014',
  'bzip2.json': 'BZh91AY&SY',
  'xz.json': '\u00FD7zXZ\0',
  'database.json': 'SQLite format 3\0\u0010',
  'document.json': '%PDF-1.4\n',
}
afterAll(() => rmSync(folder, { recursive: true }))

const OTHER = 'latin1'
const DATABASE = `sqlite:${file('content.db')}`

test.each<[args: readonly string[], name: string]>([
  [['load', '--storage', DATABASE], 'wide.json'],
  [['load', '--storage', DATABASE], 'wide.ndjson'],
  [['load', '--storage', DATABASE], `${OTHER}.json`],
  [['load', '--storage', DATABASE], `${OTHER}.ndjson`],
  [['expand', 'http://hl7.org/fhir/ValueSet/administrative-gender', '--load'], 'wide.json'],
  [['validate'], 'wide.json'],
  [['validate'], `${OTHER}.json`],
  [['snapshot'], 'wide.json'],
  [['cql'], 'wide.cql'],
  [['bot', 'run'], 'wide.js'],
  [['submit-data', '--storage', DATABASE], 'wide.json'],
  [['execute', 'none', '--input'], 'wide.json'],
])('%j names the encoding of %s', async (args, name) => {
  const said: string[] = []
  const io = { out: (line: string) => void said.push(line), err: (line: string) => void said.push(line), stdin: async () => '' }
  const wanted = name.startsWith(OTHER)
    ? `${file(name)} is not UTF-8: line 2 has a byte of another encoding.`
    : 'is in UTF-16; UTF-8 is expected.'
  expect([await run([...args, file(name)], io), said.join('\n')]).toEqual([1, expect.stringContaining(wanted)])
})

test.each(['text', 'json', 'junit', 'html', 'sarif', 'github'])(
  'a file in another encoding is a finding of it in the report as %s, and others are validated',
  async (format) => {
    const out: string[] = []
    const io = { out: (line: string) => void out.push(line), err: () => {}, stdin: async () => '' }
    await writeFile(file('z.ndjson'), Buffer.concat([Buffer.from('{"resourceType":"Patient","foo":1}\n'), Buffer.from(MULLER, 'latin1')]))
    const names = [`${OTHER}.json`, 'z.ndjson', 'later.json'].map(file)
    await writeFile(file('later.json'), '{"resourceType":"Patient","bar":1}')
    expect(await run(['validate', '--format', format, ...names], io)).toBe(1)
    const report = out.join('\n')
    for (const said of [`${OTHER}.json is not UTF-8: line 2`, 'z.ndjson is not UTF-8: line 3', 'bar']) expect(report).toContain(said)
    if (format === 'sarif') expect(() => void JSON.parse(report)).not.toThrow()
  },
)

test('a file that cannot be read to its end is not fixed, and others are', async () => {
  const fixable = '{"resourceType":"Patient","birthDate":"2020-01-01","active":"true"}\n'
  const io = { out: () => {}, err: () => {}, stdin: async () => '' }
  const [damaged, whole] = [file('damaged.ndjson'), file('whole.ndjson')]
  const before = Buffer.concat([Buffer.from(fixable), Buffer.from(MULLER, 'latin1')])
  await writeFile(damaged, before)
  await writeFile(whole, fixable)
  await run(['validate', '--fix', damaged, whole], io)
  expect((await readFile(damaged)).equals(before)).toBe(true)
  expect(await readFile(whole, 'utf8')).toContain('"active":true')
})

test('the XML in a folder is counted', async () => {
  const err: string[] = []
  const io = { out: () => {}, err: (line: string) => void err.push(line), stdin: async () => '' }
  await mkdir(file('mixed'))
  await writeFile(file('mixed/a.json'), '{"resourceType":"Patient"}')
  await writeFile(file('mixed/b.XML'), '<Patient xmlns="http://hl7.org/fhir"/>')
  expect([await run(['validate', file('mixed')], io), err.join('\n')]).toEqual([
    0,
    expect.stringContaining(`${file('mixed')} contains 1 XML file, which is not validated: only JSON is read.`),
  ])
})

const UNPACK = 'unpack it first'
test.each<[args: readonly string[], name: string, wanted: string]>([
  [['validate'], 'packed.json', `is compressed with gzip: name it ${file('packed.json.gz')}, or ${UNPACK}`],
  [['load', '--storage', DATABASE], 'packed.json', 'is compressed with gzip: name it'],
  [['load', '--storage', DATABASE], 'packed.ndjson', `is compressed with gzip: name it ${file('packed.ndjson.gz')}, or`],
  [['expand', 'http://hl7.org/fhir/ValueSet/administrative-gender', '--load'], 'packed.json', 'is compressed with gzip'],
  [['snapshot'], 'packed.json', 'is compressed with gzip'],
  [['cql'], 'packed.cql', `is compressed with gzip: ${UNPACK} (\`gunzip\`)`],
  [['bot', 'run'], 'packed.js', `is compressed with gzip: ${UNPACK}`],
  [['execute', 'none', '--input'], 'packed.json', 'is compressed with gzip'],
  [['submit-data', '--storage', DATABASE], 'packed.json', 'is compressed with gzip'],
  [['validate'], 'zip.json', `is a ZIP archive: ${UNPACK}`],
  [['validate'], 'bzip2.json', 'is compressed with bzip2'],
  [['validate'], 'xz.json', 'is compressed with xz'],
  [['validate'], 'zstd.json', 'is compressed with Zstandard'],
  [['load', '--storage', DATABASE], 'database.json', 'is a SQLite database: name it as `--storage sqlite:FILE`'],
  [['validate'], 'document.json', 'is a PDF document'],
])('%j says what %s is', async (args, name, wanted) => {
  const said: string[] = []
  const io = { out: (line: string) => void said.push(line), err: (line: string) => void said.push(line), stdin: async () => '' }
  expect([await run([...args, file(name)], io), said.join('\n')]).toEqual([1, expect.stringContaining(`${file(name)} ${wanted}`)])
})
