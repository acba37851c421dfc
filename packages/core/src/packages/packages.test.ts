import { describe, expect, test } from 'vitest'
import { archiveOf, gzipped, tarEntry } from './archive.fixture.js'
import { openDependencies, packageLayer, readPackage, type PackageManifest } from './index.js'

const valueSet = (id: string, version = '1'): string =>
  JSON.stringify({ resourceType: 'ValueSet', id, url: `http://p.test/${id}`, version, status: 'active' })
const manifest = (stated: object = {}): string => JSON.stringify({ name: 'test.package', version: '1.0.0', ...stated })

describe('the archive of a FHIR package', () => {
  test('gives its definitions, not its manifest, its examples and its instances', async () => {
    const found = await readPackage(
      archiveOf({
        'package/ValueSet-a.json': valueSet('a'),
        'package/package.json': manifest({ fhirVersions: ['4.0.1'], url: 'http://p.test', dependencies: { 'other.package': '2.0.0' } }),
        'package/Patient-p.json': '{"resourceType":"Patient","id":"p"}',
        'package/example/ValueSet-b.json': valueSet('b'),
        'package/ValueSet-c.json': `\uFEFF${valueSet('c').padEnd(70_000)}`,
      }),
    )
    expect(found).toMatchObject({ name: 'test.package', version: '1.0.0', dependencies: new Map([['other.package', '2.0.0']]) })
    expect(found.definitions.map(({ name, url }) => [name, url])).toEqual([
      ['ValueSet-a.json', 'http://p.test/a'],
      ['ValueSet-c.json', 'http://p.test/c'],
    ])
  })

  test('may be a stream of memory that threads share', async () => {
    const shared = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        const bytes = new Uint8Array(new SharedArrayBuffer(chunk.length))
        bytes.set(chunk)
        controller.enqueue(bytes)
      },
    })
    const archive = archiveOf({ 'package/package.json': manifest(), 'package/ValueSet-a.json': valueSet('a') })
    expect((await readPackage(archive.pipeThrough(shared))).definitions).toMatchObject([{ url: 'http://p.test/a' }])
  })

  test('may have names longer than the headers of tar hold', async () => {
    const name = `package/ValueSet-${'x'.repeat(120)}.json`
    const entries = [tarEntry('././@LongLink', `${name}\0`, 'L'), tarEntry(name.slice(0, 99), valueSet('a'))]
    const found = await readPackage(gzipped([tarEntry('package/package.json', manifest()), ...entries, new Uint8Array(1_024)]))
    expect(found.definitions.map((file) => file.name)).toEqual([name.slice('package/'.length)])
  })

  test('counts all bytes, also those of entries that are not files', async () => {
    const bomb = tarEntry('link', 'x'.repeat(300_000), '2')
    const archive = (): ReadableStream<Uint8Array<ArrayBuffer>> => gzipped([bomb, bomb, bomb, new Uint8Array(1_024)])
    await expect(readPackage(archive(), { maxBytes: 800_000 })).rejects.toMatchObject({ code: 'too-costly' })
    await expect(readPackage(archive())).rejects.toMatchObject({ message: expect.stringContaining('not a FHIR package') as string })
  })

  test('passes over entries that are not files and over files that are not read', async () => {
    const archive = gzipped([
      tarEntry('package/link', 'x'.repeat(5_000), '2'),
      tarEntry('package/other/image.png', 'x'.repeat(200_000)),
      tarEntry('package/package.json', manifest()),
      new Uint8Array(1_024),
    ])
    expect(await readPackage(archive)).toMatchObject({ name: 'test.package', definitions: [] })
  })

  test.each(['L', 'x'])('takes 64 KiB for the name of a file in an entry of type %s, and no more', async (kind) => {
    const named = (length: number): ReadableStream<Uint8Array<ArrayBuffer>> =>
      gzipped([tarEntry('name', 'n'.repeat(length), kind), tarEntry('package/package.json', manifest()), new Uint8Array(1_024)])
    await expect(readPackage(named(65_537))).rejects.toMatchObject({
      code: 'body-invalid',
      message: expect.stringContaining('length') as string,
    })
    const taken = await readPackage(named(65_536)).catch((error: unknown) => error)
    expect(taken).not.toMatchObject({ message: expect.stringContaining('length') as string })
  })

  test.each<readonly [title: string, archive: ReadableStream<Uint8Array<ArrayBuffer>>, code: string, message: string]>([
    ['no gzip', new Blob(['no gzip']).stream(), 'body-invalid', 'gzip'],
    ['cut off', gzipped([tarEntry('package/package.json', manifest())]), 'body-invalid', 'truncated'],
    ['damaged', gzipped([tarEntry('package/package.json', manifest()), new Uint8Array(1_024).fill(65)]), 'body-invalid', 'damaged'],
    ['no package', archiveOf({ 'readme.txt': 'x' }), 'body-invalid', 'not a FHIR package'],
    [
      'with a file that is not JSON',
      archiveOf({ 'package/package.json': manifest(), 'package/a.json': '{' }),
      'body-invalid',
      "'package/a.json'",
    ],
    [
      'with a file in another encoding',
      archiveOf({ 'package/package.json': manifest(), 'package/a.json': new TextEncoder().encode(valueSet('a')).with(20, 0xe9) }),
      'body-invalid',
      "The package's file 'package/a.json' is not UTF-8: line 1",
    ],
    ['for another release', archiveOf({ 'package/package.json': manifest({ fhirVersions: ['5.0.0'] }) }), 'body-structure', 'FHIR 5.0.0'],
  ])('is refused when it is %s', async (_, archive, code, message) => {
    await expect(readPackage(archive)).rejects.toMatchObject({ code, message: expect.stringContaining(message) as string })
  })
})

test('a package is a layer of content, whatever version of it is asked for', async () => {
  const layers = await Promise.all(
    ['1.0.0', '2.0.0'].map(async (version) =>
      packageLayer(
        await readPackage(archiveOf({ 'package/package.json': manifest({ version }), 'package/a.json': valueSet('a', version) })),
      ),
    ),
  )
  const found = await Promise.all(layers.map((layer) => layer.find('ValueSet', 'url', 'http://p.test/a')))
  expect(found.flat().map(({ version, key }) => [version, key])).toEqual([
    ['1.0.0', expect.stringContaining('test.package#1.0.0')],
    ['2.0.0', expect.stringContaining('test.package#2.0.0')],
  ])
})

test('dependencies that are not given are named, those of the release are not', () => {
  const one = (name: string, version: string, dependencies: Readonly<Record<string, string>> = {}): PackageManifest => ({
    name,
    version,
    dependencies: new Map(Object.entries(dependencies)),
  })
  const needs = { 'hl7.fhir.r4.core': '4.0.1', same: '1.0.0', wild: '2.1.x', other: '1.0.0', none: '3.0.0' }
  expect(openDependencies([one('a', '1.0.0', needs), one('same', '1.0.0'), one('wild', '2.1.7'), one('other', '1.1.0')])).toEqual([
    { by: 'a#1.0.0', name: 'other', version: '1.0.0', given: '1.1.0' },
    { by: 'a#1.0.0', name: 'none', version: '3.0.0' },
  ])
})
