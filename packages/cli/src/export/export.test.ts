import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStorage } from 'fhir-ops/memory'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { load } from '../load/loader.js'
import { prepare } from '../load/prepare.js'
import { readingOf, filesIn } from '../load/sources.js'
import { run } from '../program.js'
import { exportResources, folder, lines } from '../commands/load-and-export.js'

let base = ''
const at = (name: string): string => join(base, name)
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'fhir-ops-export-'))
})
afterAll(() => rm(base, { recursive: true }))

function filled(now: () => Date = () => new Date(0)) {
  const patients = Array.from({ length: 1_234 }, (_, n) => ({ resourceType: 'Patient', id: `p${n}` }))
  return memoryStorage([...patients, { resourceType: 'Group', id: 'g' }], { now })
}

describe('an export', () => {
  test('gives a file for each type that has resources, and load takes it back', async () => {
    const counts = await exportResources(filled(), { types: ['Patient', 'Observation', 'Group'], sink: await folder(at('all')) })
    expect([...counts]).toEqual([
      ['Patient', 1_234],
      ['Group', 1],
    ])
    expect((await readdir(at('all'))).sort()).toEqual(['Group.ndjson', 'Patient.ndjson'])
    const copy = memoryStorage()
    const summary = await load(readingOf(await filesIn([at('all')])), { storage: copy, prepare: (sources) => prepare(sources, () => []) })
    expect([summary.loaded, summary.refused]).toEqual([1_235, []])
  })

  test('keeps the digits of numbers, with version and time', async () => {
    const storage = memoryStorage([], { now: () => new Date(0) })
    const text = '{"resourceType":"Basic","id":"b","meta":{},"x":1.50}'
    await storage.write([{ op: 'put', type: 'Basic', id: 'b', text, entries: [] }])
    const out: string[] = []
    await exportResources(storage, { types: ['Basic'], sink: lines((line) => out.push(line)) })
    expect(out).toEqual(['{"resourceType":"Basic","id":"b","meta":{"versionId":"1","lastUpdated":"1970-01-01T00:00:00.000Z"},"x":1.50}'])
  })

  test('of what was written since a time has nothing else', async () => {
    let time = 1_000
    const storage = filled(() => new Date(time))
    time = 2_000
    await storage.write([{ op: 'put', type: 'Patient', id: 'p7', text: '{"resourceType":"Patient","id":"p7","meta":{}}', entries: [] }])
    const out: string[] = []
    await exportResources(storage, { types: ['Patient'], since: 2_000, sink: lines((line) => out.push(line)) })
    expect(out).toEqual([expect.stringContaining('"id":"p7"')])
  })

  test('that fails leaves no file that looks whole', async () => {
    const storage = filled()
    let pages = 0
    const search: typeof storage.search = async (query) => (++pages === 3 ? Promise.reject(new Error('away')) : storage.search(query))
    await expect(exportResources({ ...storage, search }, { types: ['Patient'], sink: await folder(at('cut')) })).rejects.toThrow('away')
    expect(await readdir(at('cut'))).toEqual([])
  })

  test.skipIf(!existsSync('/dev/full'))('to a full disk says so, and leaves nothing there', async () => {
    const err: string[] = []
    const io = { out: () => {}, err: (line: string) => err.push(line), stdin: async () => '' }
    const sample = join(import.meta.dirname, '../../sample')
    expect(await run(['load', sample, '--storage', `sqlite:${at('full.db')}`], io)).toBe(0)
    await mkdir(at('full'))
    await symlink('/dev/full', at('full/Patient.ndjson.part'))
    expect(await run(['export', '--storage', `sqlite:${at('full.db')}`, '--type', 'Patient', '--out', at('full')], io)).toBe(1)
    expect(err.at(-1)).toBe('error: A write failed: no space left on device.')
    expect(await readdir(at('full'))).toEqual([])
  })

  test.each([
    [['--type', 'Pationt'], 'resource type'],
    [['--since', 'yesterday'], 'a date'],
    [['--since', '2026-13-01'], 'a date'],
  ])('with %j is wrong use', async (args, hint) => {
    const err: string[] = []
    const io = { out: () => {}, err: (line: string) => err.push(line), stdin: async () => '' }
    expect(await run(['export', '--storage', 'memory', ...args], io)).toBe(2)
    expect(err.join()).toContain(hint)
  })

  test('on the command line comes back from a file of SQLite', async () => {
    const io = { out: () => {}, err: () => {}, stdin: async () => '' }
    const sample = join(import.meta.dirname, '../../sample')
    expect(await run(['load', sample, '--storage', `sqlite:${at('a.db')}`], io)).toBe(0)
    expect(await run(['export', '--storage', `sqlite:${at('a.db')}`, '--type', 'Patient', '--out', at('out')], io)).toBe(0)
    expect(
      (await readFile(at('out/Patient.ndjson'), 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).resourceType),
    ).toContain('Patient')
  })
})
