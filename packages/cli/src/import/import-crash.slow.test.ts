import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withCheckDigit } from '@fhir-ops/snomed'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { builtFile } from '../../../../test/built.js'
import { testDatabase } from '../../../postgres/test/test-database.js'
import { openStorage } from '../storage.js'
import { run } from '../program.js'
import { openWork } from '@fhir-ops/releases'

const MAIN = builtFile('packages/cli/dist/main.js')
const ROWS = 60_000
const ROOT = '138875005'
const CORE = '900000000000207008'
const folder = mkdtempSync(join(tmpdir(), 'import-crash-'))
const database = await testDatabase()
const schema = await database.schema()

/** Releases of invented content: the file that is read first, its rows, and other files. */
const RELEASES = {
  loinc: {
    path: 'Loinc_2.00',
    files: {
      'Loinc.csv': ['"LOINC_NUM","COMPONENT","STATUS","LONG_COMMON_NAME"', ...rows((i) => `"${i}-0","Sugar ${i}","ACTIVE","Sugar ${i}"`)],
      'Part.csv': ['"PartNumber","PartTypeName","PartName"', ...rows((i) => `"LP${i}-0","COMPONENT","Sugar ${i}"`)],
    },
  },
  rxnorm: {
    path: 'RxNorm_full_11032025',
    files: {
      'RXNCONSO.RRF': rows((i) => `${i}|ENG||||||1|||1|RXNORM|IN|${i}|sugar ${i}||N|4096|`),
      'RXNREL.RRF': rows((i) => `${i}||CUI|RO|${i + 1}||CUI|has_ingredient|1||RXNORM|RXNORM||||4096|`),
    },
  },
  snomed: {
    path: 'SnomedCT',
    files: {
      'sct2_Concept_Snapshot_INT_20240101.txt': [
        'id\teffectiveTime\tactive\tmoduleId\tdefinitionStatusId',
        ...[ROOT, '116680003', ...rows(conceptId)].map((id) => `${id}\t20240101\t1\t${CORE}\t900000000000074008`),
      ],
      'sct2_Description_Snapshot-en_INT_20240101.txt': [
        'id\teffectiveTime\tactive\tmoduleId\tconceptId\tlanguageCode\ttypeId\tterm\tcaseSignificanceId',
        ...rows(
          (i) =>
            `${withCheckDigit(`${i + 1}01`)}\t20240101\t1\t${CORE}\t${conceptId(i)}\ten\t900000000000013009\tSugar ${i}\t900000000000448009`,
        ),
      ],
      'sct2_Relationship_Snapshot_INT_20240101.txt': [
        'id\teffectiveTime\tactive\tmoduleId\tsourceId\tdestinationId\trelationshipGroup\ttypeId\tcharacteristicTypeId\tmodifierId',
        ...rows((i) => `${i + 1}020\t20240101\t1\t${CORE}\t${conceptId(i)}\t${ROOT}\t0\t116680003\t900000000000011006\t900000000000451002`),
      ],
    },
  },
} as const

type System = keyof typeof RELEASES
const SYSTEMS = ['loinc', 'rxnorm', 'snomed'] as const satisfies readonly System[]

beforeAll(() => {
  for (const { path, files } of Object.values(RELEASES)) {
    mkdirSync(join(folder, path))
    for (const [name, lines] of Object.entries(files)) writeFileSync(join(folder, path, name), `${lines.join('\n')}\n`)
  }
})

afterAll(async () => {
  rmSync(folder, { recursive: true })
  await schema.drop()
  await database.remove()
})

function rows<T>(row: (i: number) => T): readonly T[] {
  return Array.from({ length: ROWS }, (_, i) => row(i))
}

function conceptId(number: number): string {
  return withCheckDigit(`${1000 + number}00`)
}

/** A line that tells of something that was kept. */
const KEPT = /^… [0-9]+ rows of | done$/

/** Kills its process, before that does anything else, when it has told of something that it has kept. */
const DEATH = `
const write = process.stderr.write.bind(process.stderr)
process.stderr.write = (text, ...more) => {
  const written = write(text, ...more)
  if (${KEPT}.test(String(text).trimEnd())) process.kill(process.pid, 'SIGKILL')
  return written
}`
const DYING = ['--import', `data:text/javascript,${encodeURIComponent(DEATH)}`]

/** Imports in a process of its own, which dies as soon as it has kept something, if it is to. */
async function importIn(system: System, storage: string, { killed = false, extra = [] as readonly string[] } = {}): Promise<Run> {
  const path = join(folder, RELEASES[system].path)
  const node = killed ? DYING : []
  const child = spawn(process.execPath, [...node, MAIN, 'import', system, path, '--storage', storage, ...extra], { cwd: folder })
  let said = ''
  child.stderr.on('data', (data) => (said += String(data)))
  const [code, signal] = await once(child, 'close')
  return { said, end: signal ?? code }
}

interface Run {
  readonly said: string
  readonly end: unknown
}

/** Imports in one go. */
async function importHere(system: System, storage: string): Promise<string> {
  const said: string[] = []
  const io = { out: () => undefined, err: (line: string) => void said.push(line), stdin: async () => '' }
  await run(['import', system, join(folder, RELEASES[system].path), '--storage', storage], io)
  return said.join('\n')
}

/** What a run has said to have kept. */
function kept(said: string): readonly string[] {
  return said.split('\n').filter((line) => KEPT.test(line))
}

/** What a storage has imported: its versions, each with a hash of sections from its beginning to its end. */
async function content(storage: string): Promise<readonly string[]> {
  const { concepts, close } = await openStorage({ storage, create: true })
  const found: string[] = []
  for (const { key, version, header, concepts: size } of (await concepts?.systems()) ?? []) {
    const hash = createHash('sha256').update(header)
    const sections = await concepts?.open(key)
    for (const name of SECTIONS) hash.update(bytesOf(() => sections?.section(name)))
    found.push(`${version} ${size} ${hash.digest('hex')}`)
  }
  await close()
  return found
}

const SECTIONS = ['concepts-0', 'concepts-9', 'concept.low', 'description.term', 'terms.0', 'ancestors', 'display.order']

function bytesOf(read: () => Uint8Array | undefined): Uint8Array {
  try {
    return read() ?? new Uint8Array()
  } catch {
    return new Uint8Array()
  }
}

const CASES = [
  ...SYSTEMS.map((system) => [system, 'SQLite', `sqlite:${join(folder, system)}.db`] as const),
  ...(schema.url === undefined ? [] : [['loinc', 'PostgreSQL', `postgres:${schema.url}`] as const]),
]

describe('an import that is killed', () => {
  it.each(CASES)('leaves nothing that is seen, and goes on where it was: %s into %s', async (system, _, storage) => {
    const other = `sqlite:${join(folder, 'other.db')}`
    const before = await content(storage)
    const runs = [await importIn(system, storage, { killed: true })]
    for (const killed of [true, false]) {
      expect(await content(storage)).toEqual(before)
      runs.push(await importIn(system, storage, { killed }))
      expect(runs.at(-1)?.said).toContain('resuming the interrupted import')
    }
    expect(runs.map(({ end }) => end)).toEqual(['SIGKILL', 'SIGKILL', 0])
    const made = runs.flatMap(({ said }) => kept(said))
    expect(made.filter((line, place) => made.indexOf(line) < place)).toEqual([])
    await importHere(system, other)
    expect((await content(storage)).filter((line) => !before.includes(line))).toEqual(await content(other))
    rmSync(join(folder, 'other.db'))
  })
})

it('an import starts over when a file has changed, and says so', async () => {
  const storage = `sqlite:${join(folder, 'changed.db')}`
  await importIn('loinc', storage, { killed: true })
  appendFileSync(join(folder, 'Loinc_2.00', 'Part.csv'), '"LP0-1","COMPONENT","Salt"\n')
  const said = await importHere('loinc', storage)
  expect(said).toContain('The file Part.csv has changed')
  expect(kept(said)).toHaveLength(2)
  expect(existsSync(join(folder, 'changed.db-import-loinc'))).toBe(false)
})

it('two imports do not work with one file, and no other file is taken for the work of one', async () => {
  const storage = `sqlite:${join(folder, 'one.db')}`
  const work = join(folder, 'work.db')
  const extra = ['--work', work]
  const other = await openWork({ work, progress: () => undefined }, { release: 'another release', files: [] })
  const { said, end } = await importIn('loinc', storage, { extra })
  expect([end, said]).toEqual([1, expect.stringContaining(`Another import is using ${work}`)])
  other.close()
  expect((await importIn('loinc', storage, { extra })).end).toBe(0)
  const release = join(folder, 'Loinc_2.00', 'Loinc.csv')
  for (const file of [release, join(folder, 'one.db'), folder]) {
    const { said, end } = await importIn('loinc', storage, { extra: ['--work', file] })
    expect([end, said]).toEqual([2, expect.stringContaining(`${file} is not the work file of an import`)])
    expect(existsSync(file)).toBe(true)
  }
})
