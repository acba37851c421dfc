import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../json/index.js'
import type { DefinitionKey } from './layers.js'
import { packLayer, packOf } from './pack-layer.js'

const DEFINITIONS: readonly JsonObject[] = [
  { resourceType: 'ValueSet', id: 'second', url: 'u', version: '2', status: 'active', name: 'é second' },
  { resourceType: 'CodeSystem', url: 'c', status: 'draft', identifier: [{ value: 'urn:oid:1.2' }, { value: 'other' }], name: 'c' },
  { resourceType: 'ValueSet', url: 'v', name: 'v' },
  { resourceType: 'ValueSet', url: 'u', version: '1', status: 'retired', name: 'first' },
  { resourceType: 'CodeSystem', url: 'd', supplements: 'c|1', name: 'd' },
  { resourceType: 'ValueSet', name: 'without url' },
]
const PACK = packOf(DEFINITIONS.map((one) => JSON.stringify(one)))

describe('a pack', () => {
  test.each<[string, DefinitionKey, string, readonly string[]]>([
    ['ValueSet', 'url', 'u', ['é second', 'first']],
    ['ValueSet', 'url', 'v', ['v']],
    ['ValueSet', 'url', 'c', []],
    ['ValueSet', 'url', '__proto__', []],
    ['CodeSystem', 'url', 'c', ['c']],
    ['CodeSystem', 'supplements', 'c', ['d']],
    ['CodeSystem', 'identifier', 'urn:oid:1.2', ['c']],
    ['CodeSystem', 'identifier', 'other', []],
    ['ConceptMap', 'url', 'u', []],
    ['__proto__', 'url', 'u', []],
  ])('has each %s with the %s %s, in its order', async (type, by, value, names) => {
    const found = await packLayer(PACK, 'p').find(type, by, value)
    expect(found.map(({ resource }) => resource['name'])).toEqual(names)
  })

  test.each(['Uri', 'Canonical'])('has maps with the value sets that they lead from and into, as %s', async (kind) => {
    const map = { resourceType: 'ConceptMap', url: 'm', [`source${kind}`]: 'u|1', [`target${kind}`]: 'v' }
    const layer = packLayer(packOf([JSON.stringify(map)]), 'p')
    const found = [await layer.find('ConceptMap', 'source', 'u'), await layer.find('ConceptMap', 'target', 'v')]
    expect(found.map((maps) => maps.map(({ url }) => url))).toEqual([['m'], ['m']])
    expect(await layer.find('ConceptMap', 'source', 'v')).toEqual([])
  })

  test('has the same however often it is asked', async () => {
    const layer = packLayer(PACK, 'p')
    const asked = Array.from({ length: 120 }, async () => [
      await layer.find('ValueSet', 'url', 'u'),
      await layer.find('ValueSet', 'url', 'w'),
    ])
    const counts = (await Promise.all(asked)).map((found) => found.map(({ length }) => length).join())
    expect(new Set(counts)).toEqual(new Set(['2,0']))
  })

  test('has the definitions as they are, and says what they are without reading them', async () => {
    const [second, first] = await packLayer(PACK, 'p').find('ValueSet', 'url', 'u')
    expect(second).toMatchObject({
      type: 'ValueSet',
      id: 'second',
      url: 'u',
      version: '2',
      status: 'active',
      key: 'p:u|2',
      resource: DEFINITIONS[0],
    })
    expect(first).toMatchObject({ version: '1', status: 'retired' })
    expect(first).not.toHaveProperty('id')
    expect((await packLayer(PACK, 'p').find('ValueSet', 'url', 'v'))[0]).not.toHaveProperty('version')
  })

  test('lists the definitions of a type that have a url', async () => {
    const layer = packLayer(PACK, 'p')
    const names = async (type: string): Promise<readonly unknown[]> =>
      ((await layer.all?.(type)) ?? []).map(({ resource }) => resource['name'])
    expect(await names('ValueSet')).toEqual(['é second', 'v', 'first'])
    expect(await names('CodeSystem')).toEqual(['c', 'd'])
    expect(await names('ConceptMap')).toEqual([])
  })

  test('is read as far as it is asked for', async () => {
    let bytes = 0
    const layer = packLayer((start, end) => {
      bytes += end - start
      return PACK.subarray(start, end)
    }, 'p')
    const opened = bytes
    const [found] = await layer.find('CodeSystem', 'url', 'd')
    const indexed = bytes
    expect(found?.resource).toEqual(DEFINITIONS[4])
    expect(bytes - indexed).toBe(JSON.stringify(DEFINITIONS[4]).length)
    await layer.find('CodeSystem', 'url', 'c')
    await layer.find('ConceptMap', 'url', 'c')
    expect(bytes - indexed).toBe(JSON.stringify(DEFINITIONS[4]).length)
    expect(opened).toBeLessThan(indexed)
  })

  test.each([
    ['other bytes', '{}', 'The bytes are not a definitions pack.'],
    ['an earlier form', 'fhir-ops-pack 1 2\n[]', 'The pack has the form of another version of fhir-ops. Make it again with packOf.'],
  ])('is not read from %s', (_, text, message) => {
    expect(() => packLayer(new TextEncoder().encode(text), 'p')).toThrow(new TypeError(message))
  })

  test('may be empty', async () => {
    expect(await packLayer(packOf([]), 'p').find('ValueSet', 'url', 'u')).toEqual([])
  })
})
