import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
})
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
  const io = { out: () => {}, err: (line: string) => void said.push(line), stdin: async () => '' }
  const wanted = name.startsWith(OTHER)
    ? `${file(name)} is not UTF-8: line 2 has a byte of another encoding.`
    : 'is in UTF-16; UTF-8 is expected.'
  expect([await run([...args, file(name)], io), said.join('\n')]).toEqual([1, expect.stringContaining(wanted)])
})
