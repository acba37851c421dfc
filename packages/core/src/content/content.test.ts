import { describe, expect, test } from 'vitest'
import { comparableMs, processorClock } from '../../../../test/processor-time.js'
import {
  canonicalOf,
  compareVersions,
  contentView,
  definitionKeys,
  formatCanonical,
  newestOf,
  packLayer,
  packOf,
  requestLayer,
  type ContentLayer,
} from './index.js'

const valueSet = (url: string, version?: string, more: object = {}) => ({
  resourceType: 'ValueSet',
  url,
  status: 'active',
  ...(version !== undefined && { version }),
  ...more,
})

describe('canonicalOf', () => {
  test.each([
    ['http://a', { url: 'http://a' }],
    ['http://a|1', { url: 'http://a', version: '1' }],
    ['http://a|', { url: 'http://a' }],
    ['http://a|1#x', { url: 'http://a', version: '1', fragment: 'x' }],
    ['http://a#x', { url: 'http://a', fragment: 'x' }],
    ['#x', { url: '', fragment: 'x' }],
  ])('%s', (text, expected) => {
    expect(canonicalOf(text)).toEqual(expected)
  })

  test('formatCanonical puts url and version together again', () => {
    expect([formatCanonical('u', '1'), formatCanonical('u', undefined)]).toEqual(['u|1', 'u'])
  })
})

describe('compareVersions', () => {
  test.each([
    ['1.10.0', '1.9.0', 1],
    ['1.0', '1.0.0', -1],
    ['2024-01', '2023-12', 1],
    ['1.0.0', '1.0.0', 0],
    ['a', 'b', -1],
    [undefined, '1', -1],
  ])('%s against %s', (a, b, sign) => {
    expect(Math.sign(compareVersions(a, b))).toBe(sign)
    expect(Math.sign(compareVersions(b, a))).toBe(sign === 0 ? 0 : -sign)
  })
})

describe('contentView', () => {
  test('a request may bring very many versions of one canonical', async () => {
    const versions = Array.from({ length: 50_000 }, (_, i) => valueSet('u', `1.${i}`))
    const ms = processorClock()
    const view = contentView([requestLayer(versions)])
    expect((await view.resolve('ValueSet', 'u'))?.version).toBe('1.49999')
    // Some fifty milliseconds; a list that is copied for each version took thirty seconds.
    expect(comparableMs(ms(), 5_000)).toBeLessThan(5_000)
  })

  test('an upper layer hides the same url and version of a lower one', async () => {
    const view = contentView([
      requestLayer([valueSet('u', '1', { name: 'upper' })]),
      requestLayer([valueSet('u', '1'), valueSet('u', '2')]),
    ])
    const found = await view.find('ValueSet', 'url', 'u')
    expect(found.map(({ version, resource }) => [version, resource['name']])).toEqual([
      ['1', 'upper'],
      ['2', undefined],
    ])
  })

  test('without a version the newest that is not retired is meant', async () => {
    const view = contentView([
      requestLayer([valueSet('u', '1.9.0'), valueSet('u', '1.10.0'), valueSet('u', '2.0.0', { status: 'retired' })]),
    ])
    expect((await view.resolve('ValueSet', 'u'))?.version).toBe('1.10.0')
    expect((await view.resolve('ValueSet', 'u', '2.0.0'))?.status).toBe('retired')
    expect(await view.resolve('ValueSet', 'u', '3')).toBeUndefined()
  })

  test.each([
    ['an older version', valueSet('u', '0.1')],
    ['no version', valueSet('u')],
    ['a retired one', valueSet('u', '0.1', { status: 'retired' })],
  ])('without a version what came with the request is meant: %s', async (_, given) => {
    const stored = packLayer(packOf([JSON.stringify(valueSet('u', '1')), JSON.stringify(valueSet('u', '2'))]), 'package')
    const view = contentView([stored]).with(requestLayer([given]))
    expect((await view.resolve('ValueSet', 'u'))?.resource).toEqual(given)
    expect((await view.resolve('ValueSet', 'u', '1'))?.version).toBe('1')
  })

  test('type and url are compared exactly, also where they look like properties of objects', async () => {
    const view = contentView([requestLayer([valueSet('u')])])
    expect(await view.find('CodeSystem', 'url', 'u')).toEqual([])
    expect(await view.find('ValueSet', 'url', '__proto__')).toEqual([])
  })

  test('a definition that came with a request has no key, so that nothing caches it', async () => {
    expect((await contentView([requestLayer([valueSet('u')])]).resolve('ValueSet', 'u'))?.key).toBeUndefined()
  })
})

test('newestOf falls back to retired ones when there is no other', () => {
  const definition = { type: 'ValueSet', url: 'u', status: 'retired', resource: {} }
  expect(newestOf([definition])).toBe(definition)
})

describe('definitions of a FHIR release', () => {
  const packed = (isRelease: boolean, ...definitions: readonly object[]): ContentLayer =>
    packLayer(packOf(definitions.map((one) => JSON.stringify(one))), isRelease ? 'release' : 'package', { isRelease })
  const release = packed(true, valueSet('u', '4.0.1', { name: 'release' }), valueSet('v', '4.0.1', { name: 'release' }))
  const others = packed(false, valueSet('u', '1.0.0', { name: 'package', status: 'retired' }), valueSet('v', '4.0.1', { name: 'package' }))

  test.each([
    ['above a package', [release, others]],
    ['below a package', [others, release]],
    ['below a request', [requestLayer([valueSet('u', '1.0.0', { name: 'package' }), valueSet('v', '1', { name: 'package' })]), release]],
  ])('do not count %s that defines the same, whatever the versions', async (_, layers) => {
    const view = contentView(layers)
    expect((await view.resolve('ValueSet', 'u'))?.resource['name']).toBe('package')
    expect((await view.resolve('ValueSet', 'v'))?.resource['name']).toBe('package')
    expect((await view.resolve('ValueSet', 'u', '4.0.1'))?.resource['name']).toBe('release')
  })
})

describe('definitionKeys', () => {
  test.each([
    [
      { resourceType: 'ConceptMap', url: 'm', sourceCanonical: 's|1', targetUri: 't' },
      [
        ['url', 'm'],
        ['source', 's'],
        ['target', 't'],
      ],
    ],
    [
      { resourceType: 'CodeSystem', url: 'c', supplements: 'b|2', valueSet: 'v' },
      [
        ['url', 'c'],
        ['supplements', 'b'],
        ['value-set', 'v'],
      ],
    ],
    [{ resourceType: 'Patient' }, []],
  ])('%j', (resource, expected) => {
    expect(definitionKeys(resource)).toEqual(expected)
  })
})
