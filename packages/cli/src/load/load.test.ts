import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { OperationError } from 'fhir-ops/errors'
import { memoryStorage } from 'fhir-ops/memory'
import type { Storage } from 'fhir-ops/storage'
import { r4 } from '@fhir-ops/r4'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { load, type LoadSummary, loadReports } from './loader.js'
import { indexingThreads, prepare } from './prepare.js'
import { readingInput, readingOf, entriesIn, filesIn, linesIn, sourcesIn, textOf } from './sources.js'

let folder = ''
const at = (name: string): string => join(folder, name)
const patient = (id: string): string => JSON.stringify({ resourceType: 'Patient', id })
const bundle = `{ "resourceType": "Bundle", "type": "collection", "entry": [
  { "resource": { "resourceType": "Observation", "id": "o1", "valueQuantity": { "value": 1.50 } } }, { "fullUrl": "urn:x" } ] }`

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fhir-ops-load-'))
  await mkdir(at('sub'))
  await writeFile(at('a.ndjson'), `${patient('p1')}\n\n${patient('p2')}\r\n`)
  await writeFile(at('b.ndjson.gz'), gzipSync(`${patient('p3')}\n`))
  await writeFile(at('sub/c.json'), bundle)
  await writeFile(at('sub/d.json.gz'), gzipSync(`\uFEFF${patient('p4')}`))
  await writeFile(at('readme.txt'), 'not a resource')
})

afterAll(() => rm(folder, { recursive: true }))

async function placesOf(sources: AsyncIterable<{ readonly place: string }>): Promise<readonly string[]> {
  const places: string[] = []
  for await (const { place } of sources) places.push(place)
  return places
}

function typeAndId(place: string): [type: string, id: string] {
  const [type = '', id = ''] = place.split('/')
  return [type, id]
}

async function loaded(...paths: readonly string[]) {
  const storage = memoryStorage()
  const summary = await load(readingOf(await filesIn(paths)), { storage, prepare: (sources) => prepare(sources, () => []) })
  return { storage, summary }
}

describe('what is read of a folder', () => {
  test('every loadable file below it, in the order of names, line by line', async () => {
    expect(await placesOf(sourcesIn(folder))).toEqual(['a.ndjson:1', 'a.ndjson:3', 'b.ndjson.gz:1', 'c.json', 'd.json.gz'])
  })

  test.skipIf(process.platform === 'win32')('no pipe, for which nobody may ever write', async () => {
    await mkdir(at('piped'))
    await writeFile(at('piped/a.json'), patient('p1'))
    spawnSync('mkfifo', [at('piped/b.json')])
    expect(await placesOf(sourcesIn(at('piped')))).toEqual(['a.json'])
    await rm(at('piped'), { recursive: true })
  })

  test('Bundles entry by entry when they are to be stored', async () => {
    expect(await placesOf(Readable.from(entriesIn(at('sub/c.json'))).flatMap((sources) => sources))).toEqual(['c.json entry[0]'])
  })

  test('references to the fullUrl of an entry lead to the resource that is stored; those that are searches are counted', async () => {
    const [ada, visit, other] = ['urn:uuid:8d3ff7a4-2b3b-4c63-8a1d-3f0f0d7e0a11', 'urn:uuid:2', 'urn:uuid:3']
    const entries = [
      { fullUrl: ada, resource: { resourceType: 'Patient', id: 'ada', identifier: [{ system: 'urn:ietf:rfc:3986', value: ada }] } },
      { fullUrl: 'urn:uuid:none' },
      {
        fullUrl: visit,
        resource: {
          resourceType: 'Encounter',
          id: 'visit',
          text: { div: `{"reference":"${ada}"}` },
          subject: { display: '?', reference: ada },
          serviceProvider: { reference: 'Organization?identifier=http://o|1' },
          episodeOfCare: [{ reference: other }, { reference: 'EpisodeOfCare/1' }],
        },
      },
    ]
    await mkdir(at('linked'))
    await writeFile(at('linked/a.json'), JSON.stringify({ entry: entries, resourceType: 'Bundle', type: 'transaction' }))
    const { storage, summary } = await loaded(at('linked'))
    expect((await storage.read('Encounter', 'visit'))?.resource).toMatchObject({
      text: { div: `{"reference":"${ada}"}` },
      subject: { display: '?', reference: 'Patient/ada' },
      episodeOfCare: [{ reference: other }, { reference: 'EpisodeOfCare/1' }],
    })
    expect((await storage.read('Patient', 'ada'))?.resource.identifier?.[0]?.value).toBe(ada)
    const said: string[] = []
    loadReports({ out: () => {}, err: (line) => said.push(line), stdin: () => Promise.resolve('') }).onEnd(summary)
    expect(said.slice(1)).toEqual([
      "1 resource refers to others by a search, such as 'Organization?identifier=http://o|1' (a.json entry[2]). A load stores this as it is; a transaction that is sent to a server resolves it",
    ])
    await rm(at('linked'), { recursive: true })
  })

  test('a path that does not exist, and a folder with nothing to load, are named', async () => {
    await mkdir(at('empty'))
    for (const name of ['nothing', 'empty'])
      await expect(loaded(at('a.ndjson'), at(name))).rejects.toMatchObject({
        code: 'parameter-value',
        message: expect.stringContaining(name),
      })
    await rm(at('empty'), { recursive: true })
  })

  test('lines end with LF only, wherever the pieces of a file end, and are not endless', async () => {
    const lines = async (pieces: readonly string[]) => {
      const found: string[] = []
      for await (const ended of linesIn(Readable.from(pieces), 'x', 5)) found.push(...ended)
      return found
    }
    expect(await lines(['a', 'b\nc', '\n\nd\u2028e'])).toEqual(['ab', 'c', '', 'd\u2028e'])
    expect(await lines(['\n', 'a\n'])).toEqual(['', 'a'])
    await expect(lines(['abc', 'def'])).rejects.toMatchObject({ code: 'body-invalid', message: expect.stringContaining('line of x') })
  })

  test('a file of one resource is not longer than a text can be, compressed or not', async () => {
    for (const [name, bytes] of [
      ['long.json', ' '.repeat(101)],
      ['long.json.gz', gzipSync(' '.repeat(100_000))],
    ] as const) {
      await writeFile(at(name), bytes)
      await expect(textOf(at(name), 100)).rejects.toMatchObject({
        code: 'body-invalid',
        message: expect.stringContaining('than 100 bytes'),
      })
      await rm(at(name))
    }
    await writeFile(at('short.json.gz'), gzipSync(' '.repeat(100)))
    expect(await textOf(at('short.json.gz'), 100)).toBe(' '.repeat(100))
    await rm(at('short.json.gz'))
  })

  test('a compressed file that is damaged ends the load with an error', async () => {
    const cut = gzipSync(patient('p9').repeat(9)).subarray(0, 30)
    for (const [name, bytes] of Object.entries({
      'no.ndjson.gz': 'no gzip',
      'no.json.gz': 'no gzip',
      'cut.ndjson.gz': cut,
      'cut.json.gz': cut,
    })) {
      await writeFile(at(name), bytes)
      await expect(loaded(at(name))).rejects.toMatchObject({
        code: 'body-invalid',
        message: expect.stringContaining(`${name} is not a gzip file`),
      })
      await rm(at(name))
    }
  })
})

describe('what is read of a FHIR package', () => {
  const definition = (version: string): string =>
    JSON.stringify({ resourceType: 'ValueSet', id: 'a', url: 'http://example.org/a', version, status: 'active' })
  const packageOf = (version: string): Buffer =>
    archiveOf([
      ['package/package.json', JSON.stringify({ name: 'example', version, dependencies: { needed: '1.0.0' } })],
      ['package/ValueSet-a.json', definition(version)],
    ])

  test('its definitions, and what else it needs', async () => {
    await writeFile(at('p.tgz'), packageOf('1.0.0'))
    expect(await placesOf(sourcesIn(at('p.tgz')))).toEqual(['p.tgz ValueSet-a.json'])
    const { summary } = await loaded(at('p.tgz'))
    expect(Object.fromEntries(summary.types)).toEqual({ ValueSet: 1 })
    const said: string[] = []
    loadReports({ out: () => {}, err: (line) => said.push(line), stdin: () => Promise.resolve('') }).onEnd(summary)
    expect(said).toContain('example#1.0.0 needs needed 1.0.0, which is not given')
    await rm(at('p.tgz'))
  })

  test('two versions of it, side by side', async () => {
    await writeFile(at('p1.tgz'), packageOf('1.0.0'))
    await writeFile(at('p2.tgz'), packageOf('2.0.0'))
    const { storage } = await loaded(at('p1.tgz'), at('p2.tgz'), at('p1.tgz'))
    const texts = await Promise.all(['a', 'a-2.0.0'].map((id) => storage.read('ValueSet', id)))
    expect(texts.map((stored) => /"version":"([^"]+)"/.exec(stored?.text ?? '')?.[1])).toEqual(['1.0.0', '2.0.0'])
    await rm(at('p1.tgz'))
    await rm(at('p2.tgz'))
  })

  test('no Bot, which is code', async () => {
    const bot = JSON.stringify({ resourceType: 'Bot', id: 'b', url: 'http://example.org/b', runtime: 'sandbox', code: 'export {}' })
    await writeFile(
      at('p.tgz'),
      archiveOf([
        ['package/package.json', '{"name":"example","version":"1.0.0"}'],
        ['package/Bot-b.json', bot],
      ]),
    )
    const { summary } = await loaded(at('p.tgz'))
    expect([summary.loaded, summary.refused]).toEqual([0, [{ place: 'p.tgz Bot-b.json', reason: expect.stringContaining("'url'") }]])
    await rm(at('p.tgz'))
  })

  test('the line and column of what is not JSON, in a file and in a line of NDJSON', async () => {
    await writeFile(at('a.json'), '{\n  "resourceType": "Patient",\n  "id": }\n')
    await writeFile(at('b.ndjson'), '{"resourceType":"Patient","id":"a"}\n{"resourceType":"Patient",\n')
    const { summary: one } = await loaded(at('a.json'))
    const { summary: lines } = await loaded(at('b.ndjson'))
    expect([...one.refused, ...lines.refused]).toEqual([
      { place: 'a.json:3:9', reason: 'The resource is not well-formed JSON: unexpected "}".' },
      { place: 'b.ndjson:2:27', reason: 'The resource is not well-formed JSON: unexpected end of the text.' },
    ])
    await rm(at('a.json'))
    await rm(at('b.ndjson'))
  })

  test.each([
    ['', 'it is empty'],
    ['<Patient/>', 'it is XML or HTML; only JSON is read'],
  ])('once what a file is that is not JSON: %j', async (text, reason) => {
    await writeFile(at('other.json'), text)
    const { summary } = await loaded(at('other.json'))
    expect(summary.refused).toEqual([{ place: 'other.json:1:1', reason: `The resource is not well-formed JSON: ${reason}.` }])
    await rm(at('other.json'))
  })

  test.each<[name: string, text: string, refused: readonly [place: string, reason: string]]>([
    ['x.json', '<Patient xmlns="http://hl7.org/fhir"/>', ['x.json:1:1', 'it is XML or HTML; only JSON is read.']],
    ['e.json', ' \n', ['e.json:2:1', 'it is empty.']],
    [
      'n.json',
      '{"resourceType":"Patient","id":"a"}\n{"resourceType":"Patient","id":"b"}\n',
      ['n.json:2:1', 'is named .ndjson, others are a Bundle.'],
    ],
    ['q.json', '{"resourceType":"Patient",id\n', ['q.json:1:27', 'unexpected "id".']],
    ['c.json', '{"resourceType":"Patient","id":"a"}]', ['c.json:1:36', 'something follows the end of the resource.']],
    ['l.json', '{"resourceType":"patient","id":"a"}', ['l.json', "'patient' is not a resource type of FHIR R4. Did you mean 'Patient'?"]],
    ['r5.json', '{"resourceType":"ActorDefinition","id":"a"}', ['r5.json', 'Resources of other releases of FHIR cannot be loaded.']],
  ])('what is in a file that holds something else: %s', async (name, text, [place, reason]) => {
    await writeFile(at(name), text)
    const { summary } = await loaded(at(name))
    expect([summary.loaded, summary.refused]).toEqual([0, [{ place, reason: expect.stringContaining(reason) }]])
    await rm(at(name))
  })

  test('nothing of an archive that is damaged, but an error that names it', async () => {
    await writeFile(at('p.tgz'), 'no archive')
    await expect(loaded(at('p.tgz'))).rejects.toMatchObject({ code: 'body-invalid', message: expect.stringContaining('p.tgz') })
    await rm(at('p.tgz'))
  })
})

/** A package as it is published. */
function archiveOf(files: readonly (readonly [name: string, text: string])[]): Buffer {
  return gzipSync(Buffer.concat([...files.map((file) => tarEntry(file)), Buffer.alloc(1_024)]))
}

/** A file as it stands in a tar archive. */
function tarEntry([name, text]: readonly [string, string]): Buffer {
  const header = Buffer.alloc(512)
  header.write(name, 0)
  header.write(Buffer.byteLength(text).toString(8).padStart(11, '0'), 124)
  header.write('0', 156)
  header.write('ustar', 257)
  return Buffer.concat([header, Buffer.from(text), Buffer.alloc((512 - (Buffer.byteLength(text) % 512)) % 512)])
}

describe('how far a load has come', () => {
  test('is told by the bytes that were read of all files', async () => {
    const reading = readingOf(await filesIn([at('a.ndjson'), at('sub/c.json')]))
    const shares: unknown[] = [reading.share()]
    for await (const batch of reading.batches()) shares.push(batch.length, reading.share())
    expect(shares).toEqual([0, 3, 1])
  })
})

describe('what is read of standard input', () => {
  test.each<[string, string, readonly string[]]>([
    ['NDJSON', `${patient('p1')}\n\n${patient('p2')}\r\n`, ['Patient/p1', 'Patient/p2']],
    ['a Bundle on several lines', bundle, ['Observation/o1']],
    ['one line', patient('p1'), ['Patient/p1']],
  ])('%s, in whatever pieces it comes', async (_, text, stored) => {
    for (const size of [1, 40, text.length]) {
      const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, index) => text.slice(index * size, (index + 1) * size))
      const storage = memoryStorage()
      const reading = readingInput({ stdin: async () => text, stdinPieces: () => Readable.from(pieces) })
      await load(reading, { storage, prepare: (sources) => prepare(sources, () => []) })
      const found = await Promise.all(stored.map(async (place) => storage.read(...typeAndId(place))))
      expect(found.map((resource) => `${resource?.type}/${resource?.id}`)).toEqual(stored)
      expect(reading.share()).toBeUndefined()
    }
  })

  test('a resource of very many lines, all at once', async () => {
    const text = `{"resourceType": "Patient",${'\n'.repeat(300_000)}"id": "p1"}`
    const { loaded } = await load(readingInput({ stdin: async () => text }), {
      storage: memoryStorage(),
      prepare: (sources) => prepare(sources, () => []),
    })
    expect(loaded).toBe(1)
  })

  test('line by line, so that what was stored before a damage stays, and the place of what is refused is its line', async () => {
    const reading = readingInput({ stdin: async () => `${patient('p1')}\n{"resourceType":"Patient"}\n{"resourceType":` })
    const { loaded, refused } = await load(reading, { storage: memoryStorage(), prepare: (sources) => prepare(sources, () => []) })
    expect([loaded, refused.map(({ place }) => place)]).toEqual([1, ['stdin:2', 'stdin:3:17']])
  })
})

describe('what is stored', () => {
  test('all resources, counted by type', async () => {
    const { summary } = await loaded(folder)
    expect([summary.loaded, Object.fromEntries(summary.types), summary.refused]).toEqual([5, { Patient: 4, Observation: 1 }, []])
  })

  test('numbers keep their digits, also inside Bundles', async () => {
    const { storage } = await loaded(folder)
    expect((await storage.read('Observation', 'o1'))?.text).toContain('"value":1.50')
  })

  test('more resources than a batch holds', async () => {
    await writeFile(at('many.ndjson'), Array.from({ length: 1201 }, (_, i) => patient(`m${i}`)).join('\n'))
    expect((await loaded(at('many.ndjson'))).summary.loaded).toBe(1201)
    await rm(at('many.ndjson'))
  })
})

describe('batches under way at the same time', () => {
  const versions = Array.from({ length: 1_700 }, (_, n) =>
    JSON.stringify({ resourceType: 'Patient', id: `p${n % 600}`, language: `l${n}` }),
  ).join('\n')

  /** A storage that takes longer for the batches that come first. */
  function unevenStorage(storage: Storage): Storage {
    let slow = true
    return {
      ...storage,
      async write(entries) {
        slow = !slow
        if (!slow) await new Promise((resolve) => setImmediate(resolve))
        return storage.write(entries)
      },
    }
  }

  test.each([0, 3])('the last line of an id is what stays, with %d batches prepared ahead', async (ahead) => {
    await writeFile(at('versions.ndjson'), versions)
    const storage = memoryStorage()
    await load(readingOf(await filesIn([at('versions.ndjson')])), {
      storage: unevenStorage(storage),
      ahead,
      prepare: async (sources) => prepare(sources, () => []),
    })
    expect((await storage.read('Patient', 'p0'))?.resource['language']).toBe('l1200')
    expect((await storage.read('Patient', 'p499'))?.resource['language']).toBe('l1699')
    expect((await storage.read('Patient', 'p599'))?.resource['language']).toBe('l1199')
    await rm(at('versions.ndjson'))
  })

  test('a batch that fails ends the load with its error, after it was told what is stored', async () => {
    await writeFile(at('versions.ndjson'), versions)
    const storage = memoryStorage()
    let writes = 0
    const write: Storage['write'] = async (entries) =>
      ++writes === 2 ? Promise.reject(new OperationError('storage-full', 'Full.')) : storage.write(entries)
    expect(await stopped([at('versions.ndjson')], { ...storage, write })).toEqual(['storage-full', 500, { Patient: 500 }])
    await rm(at('versions.ndjson'))
  })

  test('a file that cannot be read ends the load, after it was told what is stored', async () => {
    await writeFile(at('versions.ndjson'), versions)
    await writeFile(at('z.ndjson.gz'), 'no gzip')
    expect(await stopped([at('versions.ndjson'), at('z.ndjson.gz')], memoryStorage())).toEqual(['body-invalid', 1_500, { Patient: 1_500 }])
    await rm(at('versions.ndjson'))
    await rm(at('z.ndjson.gz'))
  })

  /** The code of the error that ends a load, and how many resources were stored by then. */
  async function stopped(paths: readonly string[], storage: Storage): Promise<readonly unknown[]> {
    const ended: LoadSummary[] = []
    const failing = load(readingOf(await filesIn(paths)), {
      storage,
      prepare: (sources) => prepare(sources, () => []),
      onEnd: (summary) => void ended.push(summary),
    })
    const code: unknown = await failing.catch((error: unknown) => (error instanceof OperationError ? error.code : error))
    return [code, ...ended.flatMap(({ loaded, types }) => [loaded, Object.fromEntries(types)])]
  }

  test('a thread makes of a batch what is made of it here', async () => {
    const sources = [bundle, patient('p'), '{'].map((text, line) => ({ text, file: 'a', line, place: `a:${line}` }))
    for (const words of [true, false]) {
      const threads = indexingThreads(2, { words })
      expect(await threads.prepare(sources)).toEqual(prepare(sources, r4({ words }).indexer))
      await threads.close()
    }
  })
})

describe('a load that is resumed', () => {
  test('leaves alone what is stored with the same content, and writes the rest', async () => {
    const { storage } = await loaded(folder)
    await storage.write([{ op: 'delete', type: 'Patient', id: 'p1' }])
    await writeFile(at('changed.ndjson'), JSON.stringify({ resourceType: 'Patient', id: 'p2', gender: 'male' }))
    const again = await load(readingOf(await filesIn([folder, at('changed.ndjson')])), {
      storage,
      resume: true,
      prepare: (sources) => prepare(sources, () => []),
    })
    // p2 stands in the folder twice now, as it was and as it is.
    expect([again.loaded, again.unchanged]).toEqual([4, 3])
    expect((await storage.read('Patient', 'p1'))?.versionId).toBe('3')
    expect((await storage.read('Patient', 'p2'))?.resource['gender']).toBe('male')
    expect((await storage.read('Patient', 'p3'))?.versionId).toBe('1')
    await rm(at('changed.ndjson'))
  })
})

const nested = (depth: number): string =>
  `{"resourceType":"Basic","id":"x","code":{"text":"x"},${'"extension":[{"url":"u",'.repeat(depth)}"valueCode":"x"${'}]'.repeat(depth)}}`

describe('what is refused', () => {
  test.each([
    ['no JSON', '{"resourceType":', 'not well-formed JSON'],
    ['a member twice', '{"resourceType":"Patient","id":"x","id":"x"}', 'twice'],
    ['deep nesting', nested(40_000), 'deeper than 128 levels'],
    ['a member named like the internals of objects', '{"resourceType":"Patient","id":"x","__proto__":{"a":1}}', '__proto__'],
    ['a lone surrogate', String.raw`{"resourceType":"Patient","id":"x","gender":"\ud800"}`, 'well-formed Unicode'],
    ['U+0000', String.raw`{"resourceType":"Patient","id":"x","gender":"\u0000"}`, 'U+0000'],
    ['a long string', JSON.stringify({ resourceType: 'Patient', id: 'x', gender: 'x'.repeat(3e6) }), 'longer than 1048576'],
    ['a Bot without code', '{"resourceType":"Bot","id":"x"}', 'code'],
    ['no resourceType', '{"id":"x"}', 'no resourceType'],
    ['no id', '{"resourceType":"Patient"}', 'no id'],
    ['an unknown type', '{"resourceType":"Pationt","id":"x"}', "'Pationt'"],
    ['a bad id', '{"resourceType":"Patient","id":"a b"}', "'a b'"],
  ])('%s, with its place, while the others are loaded', async (_, line, reason) => {
    await writeFile(at('bad.ndjson'), `${line}\n${patient('good')}`)
    const { summary } = await loaded(at('bad.ndjson'))
    expect(summary.loaded).toBe(1)
    expect(summary.refused).toEqual([
      { place: expect.stringMatching(/^bad\.ndjson:1(?::17)?$/) as string, reason: expect.stringContaining(reason) },
    ])
    await rm(at('bad.ndjson'))
  })
})
