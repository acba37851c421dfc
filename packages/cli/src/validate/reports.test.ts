import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../program.js'
import { fixText } from './fix-source.js'
import { changedFiles } from './input-files.js'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

let folder = ''
const at = (name: string): string => join(folder, name)

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fhir-ops-reports-'))
  await writeFile(at('a.json'), '{\n  "resourceType": "Patient",\n\t"birthdate": "2020"\n}\n')
  await writeFile(
    at('b.ndjson'),
    '{"resourceType":"Patient","name":[{"text":"<script>alert(1)</script>","x":"\'"}]}\n{"resourceType":"Basic","code":{"text":"x"}}\n',
  )
})

afterAll(() => rm(folder, { recursive: true }))

async function validated(...args: readonly string[]) {
  const out: string[] = []
  const err: string[] = []
  const io = { out: (line: string) => void out.push(line), err: (line: string) => void err.push(line), stdin: () => Promise.resolve('') }
  const status = await run(['validate', ...args], io)
  return { status, out: out.join('\n').replaceAll(`${folder}/`, ''), err: err.join('\n') }
}

describe('a page in HTML', () => {
  test('has findings by kind, with lines and carets, and shows fixes by a button', async () => {
    const { out, status } = await validated(folder, '--format', 'html')
    expect(status).toBe(1)
    expect(out).toContain('<h2>unknown-property (2)</h2>')
    expect(out).toContain('    3 | \t&quot;birthdate&quot;: &quot;2020&quot;\n      |               ^')
    expect(out).toContain('<details><summary>Fix</summary><pre>[\n  {\n    &quot;op&quot;: &quot;move&quot;')
    expect(out).toContain('<tr><td>Patient</td><td>2</td><td>2</td><td>2</td><td>0</td></tr>')
  })

  test('loads and runs nothing, whatever a resource has in it', async () => {
    await writeFile(at('evil.txt'), '{"resourceType":"Patient","</pre><img src=x onerror=alert(1)>":"\\u0000"}')
    const { out } = await validated(at('evil.txt'), at('b.ndjson'), '--format', 'html')
    expect(out).toContain("content=\"default-src 'none'; style-src 'unsafe-inline'\"")
    expect(out).not.toMatch(/<(?:script|img|link|iframe|a)\b/i)
    expect(out).not.toContain('http:')
  })
})

describe('results of tests', () => {
  test('are a test case for each resource, by file', async () => {
    const { out } = await validated(folder, '--format', 'junit')
    expect(out).toContain('<testsuites name="fhir-ops validate" tests="3" failures="2">')
    expect(out).toContain('<testsuite name="b.ndjson" tests="2" failures="1">')
    expect(out).toContain('<testcase classname="b.ndjson" name="b.ndjson:2:2"/>')
    expect(out).toMatch(
      /<failure type="unknown-property" message="Invalid additional property &quot;Patient.birthdate&quot;">a.json:3:15: error at/,
    )
  })

  test('are XML whatever a resource has in it', async () => {
    await writeFile(at('evil.txt'), '{"resourceType":"Patient","]]><&\\"\\u0001\\ud800":1}')
    const { out } = await validated(at('evil.txt'), '--format', 'junit')
    expect(out).toContain(']]&gt;&lt;&amp;')
    expect(out).not.toMatch(/[\u0000-\u0008\uD800-\uDFFF]/)
  })
})

test('annotations of GitHub name file, line and column; nothing in a resource begins a command of its own', async () => {
  const { out } = await validated(at('a.json'), '--format', 'github')
  expect(out).toBe(
    '::error file=a.json,line=3,col=15,title=unknown-property at Patient.birthdate::Invalid additional property "Patient.birthdate" Did you mean \'birthDate\'?',
  )
  await writeFile(at('evil.txt'), '{"resourceType":"Patient","x\\n::set-output name=a::b,%":1}')
  const evil = await validated(at('evil.txt'), '--format', 'github')
  expect(evil.out.split('\n')).toHaveLength(1)
  expect(evil.out).toContain('%3A%3Aset-output')
})

test('a summary by profile stands at the end where there are several', async () => {
  const { err } = await validated(folder)
  expect(err).toContain(
    'profile  resources  invalid  errors  warnings\nBasic    1          0        0       0\nPatient  2          2        2       0',
  )
  expect((await validated(at('a.json'))).err).not.toContain('profile')
})

describe('fixes', () => {
  test('are applied to the file and shown; digits and layout of all else stay', async () => {
    const text =
      '{ "resourceType":"Observation",\n  "status" : "Final", "code": {"text":"x"},\n  "valueQuantity": { "value": 1.50e0 },\n  "note": []\n}\n'
    await writeFile(at('fix.json'), text)
    const { status, out } = await validated(at('fix.json'), '--fix')
    expect(await readFile(at('fix.json'), 'utf8')).toBe(text.replace('"Final"', '"final"').replace(',\n  "note": []', ''))
    expect(status).toBe(0)
    expect(out).toContain('-   "status" : "Final", "code": {"text":"x"},\n+   "status" : "final", "code": {"text":"x"},')
  })

  test('leave the other lines of a file alone, and what has no fix', async () => {
    const good = '{"resourceType":"Patient",  "active":true}'
    await writeFile(at('fix.ndjson'), `${good}\n\n{"resourceType":"Patient","name":{"family":"X"},"gender":"nobody"}\n${good}`)
    const { status, out } = await validated(at('fix.ndjson'), '--fix')
    expect(await readFile(at('fix.ndjson'), 'utf8')).toBe(
      `${good}\n\n{"resourceType":"Patient","name":[{"family":"X"}],"gender":"nobody"}\n${good}`,
    )
    expect([status, out.includes('[code-not-in-value-set]')]).toEqual([1, true])
  })

  test('are made in the file that a link names, with its permissions, and leave no other file behind', async () => {
    await writeFile(at('linked.json'), '{"resourceType":"Patient","name":{"text":"X"}}', { mode: 0o640 })
    await symlink(at('linked.json'), at('link.json'))
    expect(await validated(at('link.json'), '--fix')).toMatchObject({ status: 0 })
    expect(await readFile(at('linked.json'), 'utf8')).toBe('{"resourceType":"Patient","name":[{"text":"X"}]}')
    expect((await stat(at('linked.json'))).mode & 0o777).toBe(0o640)
    expect((await readdir(folder)).filter((name) => name.includes('.part'))).toEqual([])
  })

  test.skipIf(process.platform === 'win32')('that do not fit on the disk leave the file as it was', async () => {
    const text = `{"resourceType":"Patient","name":{"text":"${'x'.repeat(20_000)}"}}`
    await writeFile(at('large.json'), text)
    // A file may have 8 KiB at most.
    const { status, stderr } = spawnSync(
      'bash',
      ['-c', 'ulimit -f 8 && exec "$0" "$@"', process.execPath, MAIN, 'validate', '--fix', at('large.json')],
      {
        encoding: 'utf8',
      },
    )
    expect([status, stderr]).toEqual([1, expect.stringContaining('file too large')])
    expect(await readFile(at('large.json'), 'utf8')).toBe(text)
    expect((await readdir(folder)).filter((name) => name.includes('.part'))).toEqual([])
  })

  test('are not made where nothing can be written', async () => {
    await writeFile(at('fix.txt'), '{"resourceType":"Patient","name":[]}')
    expect(await validated(at('fix.txt'), '--fix')).toMatchObject({
      status: 2,
      err: expect.stringContaining('fix.txt is not a .json or .ndjson file'),
    })
    expect(await readFile(at('fix.txt'), 'utf8')).toContain('"name":[]')
  })

  test.each<readonly [string, Parameters<typeof fixText>[1], string]>([
    ['{"a":[1.0 , 2]}', [{ op: 'move', from: '/a', path: '/b' }], '{"b":[1.0 , 2]}'],
    ['{"a": [ 1.0 ]}', [{ op: 'move', from: '/a/0', path: '/a' }], '{"a": 1.0}'],
    ['{"a":{"b":[1,2 ]}}', [{ op: 'remove', path: '/a/b/1' }], '{"a":{"b":[1 ]}}'],
    ['{"a":1, "b":2}', [{ op: 'remove', path: '/a' }], '{ "b":2}'],
    ['{"a":1 }', [{ op: 'remove', path: '/a' }], '{}'],
    ['{"a~/b":{"\\"":1}}', [{ op: 'replace', path: '/a~0~1b/"', value: 'x' }], '{"a~/b":{"\\"":"x"}}'],
    [
      '{"a": 1.0 }',
      [
        { op: 'move', from: '/a', path: '/#' },
        { op: 'add', path: '/a', value: [] },
        { op: 'move', from: '/#', path: '/a/0' },
      ],
      '{"a": [1.0] }',
    ],
  ])('change %s where they must', (text, fix, expected) => {
    expect(fixText(text, fix)).toBe(expected)
  })
})

test('files that change are given once they are quiet, new ones of a folder too', async () => {
  const end = new AbortController()
  const changes = changedFiles([folder], end.signal)
  let given: unknown
  void changes.next().then(({ value }) => (given = value))
  const write = async (): Promise<void> => {
    await writeFile(at('new.json'), '{')
    await writeFile(at('new.json'), '{}')
    await writeFile(at('new.txt'), '{}')
  }
  // What is written before the folder is watched, which nobody is told, is not seen.
  await expect.poll(async () => (await write(), given), { interval: 500 }).toEqual([at('new.json')])
  end.abort()
  expect((await changes.next()).done).toBe(true)
})
