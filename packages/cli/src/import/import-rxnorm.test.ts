import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rxnorm } from '@fhir-ops/loinc-rxnorm'
import { createContext } from 'fhir-ops/context'
import { expand } from 'fhir-ops/expand'
import { lookup } from 'fhir-ops/lookup'
import { memoryConceptStore, memoryStorage } from 'fhir-ops/memory'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from '../program.js'
import { importRxnorm } from '@fhir-ops/loinc-rxnorm/import'

const RXNORM = 'http://www.nlm.nih.gov/research/umls/rxnorm'

const atom = (concept: string, source: string, type: string, text: string, suppress = 'N'): string =>
  `${concept}|ENG||||||1|||1|${source}|${type}|${concept}|${text}||${suppress}|4096|`
const relation = (first: string, second: string, name: string, source = 'RXNORM'): string =>
  `${first}||CUI|RO|${second}||CUI|${name}|1||${source}|${source}||||4096|`

/** Invented medicines. */
const RELEASE: Readonly<Record<string, readonly string[]>> = {
  'RXNCONSO.RRF': [
    atom('11', 'RXNORM', 'SY', 'sweetstuff'),
    atom('11', 'RXNORM', 'IN', 'sugarine'),
    atom('11', 'OTHER', 'IN', 'SUGARINE OF ANOTHER SOURCE'),
    atom('22', 'RXNORM', 'SCD', 'sugarine 5 MG Oral Tablet'),
    atom('33', 'RXNORM', 'SCD', 'sugarine 1 MG Oral Tablet', 'O'),
    atom('44', 'OTHER', 'IN', 'nothing of RxNorm'),
  ],
  'RXNREL.RRF': [
    relation('11', '22', 'has_ingredient'),
    relation('22', '11', 'ingredient_of'),
    relation('11', '33', 'has_ingredient', 'OTHER'),
  ],
  'RXNSTY.RRF': ['11|T109|A1.4.1.2.1|Organic Chemical|AT1|4096|'],
}

const folder = mkdtempSync(join(tmpdir(), 'import-rxnorm-'))
const release = join(folder, 'RxNorm_full_11032025')
const store = memoryConceptStore()
const ctx = createContext({ storage: memoryStorage(), concepts: store, codeSystems: [rxnorm()] })
const progress = (): void => undefined

beforeAll(async () => {
  mkdirSync(join(release, 'rrf'), { recursive: true })
  for (const [name, lines] of Object.entries(RELEASE)) writeFileSync(join(release, 'rrf', name), `${lines.join('\n')}\n`)
  await importRxnorm(store, release, { progress })
})

afterAll(() => rmSync(folder, { recursive: true }))

describe('an imported release of RxNorm', () => {
  it('calls a concept by the name of its own type, and tells its other names', async () => {
    const found = await lookup(ctx, { system: RXNORM, code: '11', properties: ['*'] })
    expect(found).toMatchObject({ version: '11032025', display: 'sugarine' })
    expect(found.designations.map(({ value }) => value)).toContain('sweetstuff')
    expect(found.properties.map(({ code, value: [, value] }) => [code, value])).toEqual([
      ['inactive', false],
      ['TTY', 'IN'],
      ['STY', 'Organic Chemical'],
      ['TUI', 'T109'],
      ['ingredient_of', '22'],
    ])
  })

  it('calls suppressed concepts inactive and leaves out those of other sources', async () => {
    const { properties } = await lookup(ctx, { system: RXNORM, code: '33' })
    expect(properties).toEqual([{ code: 'inactive', value: ['valueBoolean', true] }])
    await expect(lookup(ctx, { system: RXNORM, code: '44' })).rejects.toMatchObject({ code: 'not-found' })
  })

  it.each([
    ['TTY', 'SCD', ['22', '33']],
    ['has_ingredient', '11', ['22']],
    ['STY', 'Organic Chemical', ['11']],
    ['STY', 'T109', ['11']],
    ['STY', 'T200', []],
    ['SAB', 'RXNORM', ['11', '22', '33']],
    ['has_ingredient', 'CUI:11', ['22']],
    ['STY', 'T200, T109', ['11'], 'in'],
    ['STY', 'Organic Chemical,T200', ['11'], 'in'],
    ['has_ingredient', 'CUI:11,33', ['22'], 'in'],
    ['has_ingredient', '11,33', ['22'], 'in'],
    ['SAB', 'RXNORM', ['11', '22', '33'], 'in'],
    ['SAB', 'RXNORM,MMSL', ['11', '22', '33'], 'in'],
  ])('is filtered by %s = %s', async (property, value, codes, op = '=') => {
    const include = [{ system: RXNORM, filter: [{ property, op, value }] }]
    const { contains } = await expand(ctx, { valueSet: { resourceType: 'ValueSet', status: 'active', compose: { include } } })
    expect(contains.map(({ code }) => code)).toEqual(codes)
  })

  it.each([
    ['SAB', 'MMSL'],
    ['nothing', 'CUI:11'],
    ['RN', 'CUI:11'],
    ['has_ingredient', 'AUI:11'],
    ['has_ingredient', '33, AUI:11', 'in'],
  ])('refuses %s = %s by name', async (property, value, op = '=') => {
    const include = [{ system: RXNORM, filter: [{ property, op, value }] }]
    const expanding = expand(ctx, { valueSet: { resourceType: 'ValueSet', status: 'active', compose: { include } } })
    await expect(expanding).rejects.toThrow(value.includes('AUI:') ? `filter by ${property}` : `${property} ${op} ${value}`)
  })

  it('is imported by the command', async () => {
    const out: string[] = []
    const io = { out: (line: string) => void out.push(line), err: () => undefined, stdin: async () => '' }
    expect(await run(['import', 'rxnorm', release, '--storage', `sqlite:${join(folder, 'content.db')}`], io)).toBe(0)
    expect(out).toEqual(['11032025'])
  })
})

it.each([`${release}/`, join(release, 'rrf'), `${release}/rrf/..`])(
  'the version is that of the nearest folder with one in its name: %s',
  async (path) => {
    expect(await importRxnorm(memoryConceptStore(), path, { progress })).toMatchObject({ version: '11032025' })
  },
)

it.each([
  ['a name with another date', 'RxNorm_20251103', undefined, [], 'parameter-required'],
  ['a name without date in a folder that is named for a day', join('12012024', 'RxNorm_full'), undefined, [], 'parameter-required'],
  ['a name without date', 'rxnorm', undefined, [], 'parameter-required'],
  ['a folder without concepts', 'RxNorm_01012025', undefined, [], 'definition-invalid'],
  ['a row that lacks columns', 'short', '01012025', ['11|ENG|'], 'definition-invalid'],
])('%s is refused', async (_, name, version, lines, code) => {
  mkdirSync(join(folder, name), { recursive: true })
  if (lines.length > 0) writeFileSync(join(folder, name, 'RXNCONSO.RRF'), lines.join('\n'))
  await expect(importRxnorm(memoryConceptStore(), join(folder, name), { release: version, progress })).rejects.toMatchObject({ code })
})
