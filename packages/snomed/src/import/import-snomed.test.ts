import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32, deflateRawSync } from 'node:zlib'
import { openSqlite, type SqliteFile } from '@fhir-ops/sqlite'
import { createContext } from 'fhir-ops/context'
import { expand } from 'fhir-ops/expand'
import { memoryConceptStore, memoryStorage } from 'fhir-ops/memory'
import type { ConceptStore } from 'fhir-ops/storage'
import { SNOMED, withCheckDigit } from '../index.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { importSnomed } from './import-snomed.js'
import { snomed } from '../snomed.js'

const ROOT = '138875005'
const CORE = '900000000000207008'
const [ANIMAL = '', DOG = ''] = [1, 2].map((number) => withCheckDigit(`${7000 + number}00`))
const VERSION = `${SNOMED}/${CORE}/version/20240101`
const CONCEPT_COLUMNS = 'id\teffectiveTime\tactive\tmoduleId\tdefinitionStatusId'
const DESCRIPTIONS = 'Terminology/sct2_Description_Snapshot-en_INT_20240101.txt'

/** A release of three concepts, as files by name. */
const RELEASE: Readonly<Record<string, readonly string[]>> = {
  'Terminology/sct2_Concept_Snapshot_INT_20240101.txt': [
    CONCEPT_COLUMNS,
    ...[ROOT, '116680003', ANIMAL, DOG].map((id) => `${id}\t20240101\t1\t${CORE}\t900000000000074008`),
  ],
  [DESCRIPTIONS]: [
    'id\teffectiveTime\tactive\tmoduleId\tconceptId\tlanguageCode\ttypeId\tterm\tcaseSignificanceId',
    ...[ANIMAL, DOG].map(
      (id, i) => `${withCheckDigit(`${i + 1}0001`)}\t20240101\t1\t${CORE}\t${id}\ten\t900000000000013009\tName ${i} ä\t900000000000448009`,
    ),
  ],
  'Terminology/sct2_Relationship_Snapshot_INT_20240101.txt': [
    'id\teffectiveTime\tactive\tmoduleId\tsourceId\tdestinationId\trelationshipGroup\ttypeId\tcharacteristicTypeId\tmodifierId',
    `1000020\t20240101\t1\t${CORE}\t${ANIMAL}\t${ROOT}\t0\t116680003\t900000000000011006\t900000000000451002`,
    `2000020\t20240101\t1\t${CORE}\t${DOG}\t${ANIMAL}\t0\t116680003\t900000000000011006\t900000000000451002`,
    `3000020\t20240101\t1\t${CORE}\t${DOG}\t${withCheckDigit('999900')}\t0\t116680003\t900000000000011006\t900000000000451002`,
    `4000020\t20240101\t1\t${CORE}\t${ROOT}\t${DOG}\t0\t116680003\t900000000000010007\t900000000000451002`,
  ],
  'Full/sct2_Concept_Full_INT_20240101.txt': [CONCEPT_COLUMNS, `${withCheckDigit('888800')}\t20240101\t1\t${CORE}\t900000000000074008`],
}

const folder = mkdtempSync(join(tmpdir(), 'import-snomed-'))
const options = { progress: (): void => undefined }
let file: SqliteFile

beforeAll(async () => {
  writeRelease(join(folder, 'release'), RELEASE)
  writeFileSync(join(folder, 'release.zip'), zipOf(RELEASE))
  writeFileSync(join(folder, 'large.zip'), zipOf(RELEASE, { zip64: true }))
  file = await openSqlite(join(folder, 'content.db'))
})

afterAll(async () => {
  await file.close()
  rmSync(folder, { recursive: true })
})

test.each(['release', 'release.zip', 'large.zip'])(
  '%s is imported: snapshots of inferred relationships, without what dangles',
  async (name) => {
    const store = memoryConceptStore()
    const { system, dangling } = await importSnomed(store, join(folder, name), options)
    expect([system.version, system.concepts, dangling]).toEqual([VERSION, 4, 1])
    expect(await codesBelow(store, ANIMAL)).toEqual([`${ANIMAL} Name 0 ä`, `${DOG} Name 1 ä`])
  },
)

test('memory and SQLite hold the same sections', async () => {
  const memory = memoryConceptStore()
  const stores = [memory, file.concepts]
  const keys = await Promise.all(stores.map(async (store) => (await importSnomed(store, join(folder, 'release'), options)).system.key))
  const opened = await Promise.all(stores.map(async (store, i) => store.open(keys[i] ?? '')))
  for (const name of ['concept.low', 'ancestors', 'words.text', 'terms.0']) {
    const [a, b] = opened.map((sections) => Buffer.from(sections.section(name)).toString('hex'))
    expect(b, name).toBe(a)
  }
})

test('importing again replaces the version; another edition stands beside it', async () => {
  const path = join(folder, 'release')
  const before = (await importSnomed(file.concepts, path, options)).system
  const reading = await file.concepts.open(before.key)
  const after = (await importSnomed(file.concepts, path, options)).system
  const other = (await importSnomed(memoryOf(file), path, { ...options, edition: '45991000052106', experimental: true })).system
  expect((await file.concepts.systems()).map(({ key }) => key)).toEqual([after.key, other.key])
  expect(other.version).toBe('http://snomed.info/xsct/45991000052106/version/20240101')
  expect(after.key).not.toBe(before.key)
  expect(() => reading.section('ancestors')).toThrow('removed')
})

describe('the edition is', () => {
  const [swedish, mapping] = ['45991000052106', '449080006']
  const dated = (...rows: readonly (readonly [active: string, module: string, time: string])[]): typeof RELEASE => ({
    ...RELEASE,
    'Refset/der2_ssRefset_ModuleDependencySnapshot_INT_20240101.txt': [
      'id\teffectiveTime\tactive\tmoduleId\trefsetId\treferencedComponentId\tsourceEffectiveTime\ttargetEffectiveTime',
      ...rows.map(([active, module, time], i) => `m${i}\t${time}\t${active}\t${module}\t900000000000534007\t${CORE}\t${time}\t20230101`),
    ],
  })
  const renamed = (files: typeof RELEASE): typeof RELEASE =>
    Object.fromEntries(Object.entries(files).map(([name, lines]) => [name.replace('_INT_', '_SE1000052_'), lines]))

  test.each([
    ['international, of several modules', dated(['1', mapping, '20240101'], ['1', CORE, '20240101']), `sct/${CORE}`],
    ['international, of no module', dated(['1', CORE, '20230101'], ['0', swedish, '20240101']), `sct/${CORE}`],
    ['that of the one module', renamed(dated(['1', swedish, '20240101'], ['1', CORE, '20230101'])), `sct/${swedish}`],
    ['no official one under a wrong name', dated(['1', swedish, '20240101'], ['1', CORE, '20230101']), `xsct/${swedish}`],
  ])('%s', async (name, files, expected) => {
    const path = join(folder, `edition ${name}`)
    writeRelease(path, files)
    const { system } = await importSnomed(memoryConceptStore(), path, options)
    expect(system.version).toBe(`http://snomed.info/${expected}/version/20240101`)
  })

  test.each([
    ['without module dependencies', renamed(RELEASE)],
    ['of several modules', renamed(dated(['1', swedish, '20240101'], ['1', CORE, '20240101']))],
  ])('asked for %s', async (name, files) => {
    const path = join(folder, `edition asked ${name}`)
    writeRelease(path, files)
    await expect(importSnomed(memoryConceptStore(), path, options)).rejects.toMatchObject({
      code: 'parameter-required',
      message: expect.stringContaining('--edition'),
    })
  })
})

test('nothing of an import that was cut off is seen, and the next one starts over', async () => {
  const store = await openSqlite(join(folder, 'cut.db'))
  const cut = await store.concepts.stage({ url: SNOMED, version: VERSION, format: 'snomed-1', concepts: 1, header: '{}' })
  await cut.put('concept.low', new Uint8Array([1]))
  expect(await store.concepts.systems()).toEqual([])
  await importSnomed(store.concepts, join(folder, 'release'), options)
  await expect(cut.publish()).rejects.toMatchObject({ code: 'conflict' })
  expect(await codesBelow(store.concepts, DOG)).toEqual([`${DOG} Name 1 ä`])
  await store.close()
})

test('an import goes on with the parts that are made, unless it is another one', async () => {
  const [work, store] = [join(folder, 'work'), memoryConceptStore()]
  const importing = async (said: string[], date?: string, stopAt?: string): Promise<unknown> =>
    importSnomed(store, join(folder, 'release'), {
      date,
      work,
      progress(message) {
        said.push(message)
        if (message === stopAt) throw new Error('stopped')
      },
    })
  const said: readonly string[][] = [[], [], []]
  await expect(importing(said[0] ?? [], '20230101', 'descriptions done')).rejects.toThrow('stopped')
  await expect(importing(said[1] ?? [], undefined, 'descriptions done')).rejects.toThrow('stopped')
  expect(said[1]).toContainEqual(expect.stringMatching(/^It was for .*20230101: the interrupted import is discarded/))
  expect(await store.systems()).toEqual([])
  await importing(said[2] ?? [])
  expect(said[2]?.filter((message) => message.endsWith(' done'))).toEqual(
    ['relationships', 'refsets', 'identifiers'].map((part) => `${part} done`),
  )
  expect(await codesBelow(store, ANIMAL)).toEqual([`${ANIMAL} Name 0 ä`, `${DOG} Name 1 ä`])
  expect(existsSync(work)).toBe(false)
})

test.each([
  ['nothing', {}, 'not-found'],
  ['empty', {}, 'definition-invalid'],
  ['unnamed', unnamed(RELEASE), 'parameter-required'],
  ['without relationships', withoutRelationships(RELEASE), 'definition-invalid'],
  ['broken.zip', {}, 'body-invalid'],
] as const)('%s is refused', async (name, files, code) => {
  const path = join(folder, name)
  if (name === 'broken.zip') writeFileSync(path, 'PK no')
  else if (name !== 'nothing') writeRelease(path, files)
  await expect(importSnomed(memoryConceptStore(), path, options)).rejects.toMatchObject({ code })
})

describe('a damaged release is refused with the place of the damage, and nothing of it is seen:', () => {
  const descriptions = RELEASE[DESCRIPTIONS] ?? []
  const changed = (change: (text: string) => string | Uint8Array): Record<string, Uint8Array> => ({
    ...bytesOf(RELEASE),
    [DESCRIPTIONS]: Buffer.from(change(`${descriptions.join('\r\n')}\r\n`)),
  })
  test.each([
    ['cut off', changed((text) => text.slice(0, -60)), /^Line 3 of .*Description.* has [1-8] values for 9 columns/],
    [
      'a row without its id',
      changed((text) => text.replace(/\n[0-9]+\t/, '\nabc\t')),
      /^Line 2 of .* has an id, time or status that is none/,
    ],
    ['another order of columns', changed((text) => text.replace('typeId\tterm', 'term\ttypeId')), /does not have typeId as its column 7/],
    ['no column of the term', changed((text) => text.replace('\tterm\t', '\t')), /Description.* does not have the columns of RF2/],
    ['UTF-16', changed((text) => Buffer.from(`\uFEFF${text}`, 'utf16le')), /Description.* is not in UTF-8/],
    ['Latin 1', changed((text) => Buffer.from(text, 'latin1')), /Description.* is not in UTF-8/],
    ['no line', changed(() => 'x'.repeat(1 << 21)), /has a line of more than/],
    ['no descriptions', { ...bytesOf(RELEASE), [DESCRIPTIONS]: Buffer.from('') }, /Description.* does not have the columns of RF2/],
  ])('%s', async (name, files, message) => {
    const path = join(folder, `damaged ${name}`)
    writeFiles(path, files)
    const store = memoryConceptStore()
    const refused = { code: 'definition-invalid', message: expect.stringMatching(message) }
    await expect(importSnomed(store, path, options)).rejects.toMatchObject(refused)
    expect(await store.systems()).toEqual([])
  })

  test.each([
    ['packed', (archive: Buffer) => archive.indexOf(DESCRIPTIONS) + DESCRIPTIONS.length + 40],
    ['stored', (archive: Buffer) => archive.lastIndexOf('900000000000074008')],
  ])('an archive with another byte in what is %s', async (name, placeIn) => {
    const [path, archive] = [join(folder, `${name}.zip`), zipOf(RELEASE)]
    const place = placeIn(archive)
    archive.writeUInt8(archive.readUInt8(place) ^ 1, place)
    writeFileSync(path, archive)
    await expect(importSnomed(memoryConceptStore(), path, options)).rejects.toMatchObject({ code: 'body-invalid' })
  })

  test('a byte order mark, rows without a time and files of unknown columns are not damage', async () => {
    const path = join(folder, 'marked')
    const unknown = { 'der2_Other_Snapshot_INT_20240101.txt': Buffer.from('a\tb\r\n1\t2\r\n') }
    writeFiles(path, { ...changed((text) => `\uFEFF${text.replace('\t20240101\t', '\t\t')}`), ...unknown })
    const said: string[] = []
    await importSnomed(memoryConceptStore(), path, { progress: (message) => said.push(message) })
    expect(said[0]).toMatch(/Other.* is not imported: its columns are unknown/)
  })
})

function withoutRelationships(files: typeof RELEASE): typeof RELEASE {
  return Object.fromEntries(Object.entries(files).filter(([name]) => !name.includes('Relationship')))
}

function unnamed(files: typeof RELEASE): typeof RELEASE {
  return Object.fromEntries(Object.entries(files).map(([name, lines]) => [name.replace('_INT_20240101', ''), lines]))
}

function memoryOf({ concepts }: SqliteFile): ConceptStore {
  return concepts
}

async function codesBelow(concepts: ConceptStore, id: string): Promise<readonly string[]> {
  const ctx = createContext({ storage: memoryStorage(), concepts, codeSystems: [snomed()] })
  const { contains } = await expand(ctx, { url: `${SNOMED}?fhir_vs=isa/${id}` })
  return contains.map(({ code, display }) => `${code} ${display}`)
}

function writeRelease(path: string, files: Readonly<Record<string, readonly string[]>>): void {
  writeFiles(path, bytesOf(files))
}

function bytesOf(files: Readonly<Record<string, readonly string[]>>): Record<string, Uint8Array> {
  return Object.fromEntries(Object.entries(files).map(([name, lines]) => [name, Buffer.from(`${lines.join('\r\n')}\r\n`)]))
}

function writeFiles(path: string, files: Readonly<Record<string, Uint8Array>>): void {
  mkdirSync(path, { recursive: true })
  for (const [name, bytes] of Object.entries(files)) {
    mkdirSync(join(path, name, '..'), { recursive: true })
    writeFileSync(join(path, name), bytes)
  }
}

/** A ZIP archive, the first file stored and the others deflated. With `zip64` every number stands where it has 64 bits. */
function zipOf(files: Readonly<Record<string, readonly string[]>>, { zip64 = false } = {}): Buffer {
  const locals: Buffer[] = []
  const central: Buffer[] = []
  let offset = 0
  for (const [i, [name, lines]] of Object.entries(files).entries()) {
    const raw = Buffer.from(`${lines.join('\n')}\n`)
    const data = i === 0 ? raw : deflateRawSync(raw)
    const header = Buffer.alloc(30)
    header.writeUInt32LE(0x04034b50)
    header.writeUInt16LE(name.length, 26)
    const entry = Buffer.alloc(46)
    entry.writeUInt32LE(0x02014b50)
    entry.writeUInt16LE(i === 0 ? 0 : 8, 10)
    entry.writeUInt32LE(crc32(raw), 16)
    entry.writeUInt32LE(data.length, 20)
    entry.writeUInt16LE(name.length, 28)
    entry.writeUInt32LE(offset, 42)
    locals.push(header, Buffer.from(name), data)
    central.push(entry, Buffer.from(name), ...(zip64 ? [withExtra(entry, [raw.length, data.length, offset])] : []))
    offset += 30 + name.length + data.length
  }
  const directory = Buffer.concat(central)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, directory, ...(zip64 ? largeEnd(end, { size: directory.length, offset }) : []), end])
}

/** Moves the sizes and the place of an entry to an extra field, which it gives; another one stands before it. */
function withExtra(entry: Buffer, numbers: readonly number[]): Buffer {
  for (const place of [20, 24, 42]) entry.writeUInt32LE(0xffffffff, place)
  const extra = Buffer.alloc(8 + 4 + numbers.length * 8)
  extra.writeUInt16LE(0x7875)
  extra.writeUInt16LE(4, 2)
  extra.writeUInt16LE(1, 8)
  extra.writeUInt16LE(numbers.length * 8, 10)
  numbers.forEach((number, i) => extra.writeBigUInt64LE(BigInt(number), 12 + i * 8))
  entry.writeUInt16LE(extra.length, 30)
  return extra
}

/** The records of ZIP64 before the end record, which then tells no numbers. */
function largeEnd(end: Buffer, { size, offset }: { size: number; offset: number }): readonly Buffer[] {
  for (const place of [12, 16]) end.writeUInt32LE(0xffffffff, place)
  const record = Buffer.alloc(56)
  record.writeUInt32LE(0x06064b50)
  record.writeBigUInt64LE(BigInt(size), 40)
  record.writeBigUInt64LE(BigInt(offset), 48)
  const locator = Buffer.alloc(20)
  locator.writeUInt32LE(0x07064b50)
  locator.writeBigUInt64LE(BigInt(offset + size), 8)
  return [record, locator]
}
