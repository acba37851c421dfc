import { describe, expect, it } from 'vitest'
import { bestVersion, VERSION_RULES, versionFits, versionsByUrl, wishedVersion } from './versions.js'

describe('a version', () => {
  it.each([
    ['1.x.x', '1.2.0', true],
    ['1.0.x', '1.2.0', false],
    ['1', '1.0.0', false],
    ['1.0.0', '1.0.0', true],
    ['x', '1.0.0', false],
    ['*.*.*', '1.0.0', true],
    ['1.x', undefined, false],
    ['1.x.x', '1.2.0-beta', false],
    ['*', '2024-01-01', true],
    ['1.x.x', '1.2.0+b-1', true],
    ['1.2.0-beta', '1.2.0-beta', true],
    ['1.x.0-beta', '1.2.0-beta', true],
    ['http://snomed.info/sct/45991000052106', 'http://snomed.info/sct/45991000052106/version/20220531', true],
    ['http://snomed.info/sct/459910000521', 'http://snomed.info/sct/45991000052106/version/20220531', false],
    ['http://snomed.info/sct/45991000052106/version/20220531', 'http://snomed.info/sct/45991000052106', false],
  ])('%s fits %s: %s', (asked, version, expected) => {
    expect(versionFits(asked, version)).toBe(expected)
  })

  it('is the exact one, else the highest that fits', () => {
    const items = ['1.0.0', '1.10.0', '1.9.0', '1.x.x'].map((version) => ({ version }))
    expect(bestVersion(items.slice(0, 3), '1.x.x')?.version).toBe('1.10.0')
    expect(bestVersion(items, '1.x.x')?.version).toBe('1.x.x')
    expect(bestVersion(items, '2.x.x')).toBeUndefined()
  })

  const rules = {
    force: versionsByUrl(['f|1.0.x']),
    fallback: versionsByUrl(['f|3', 's|2', 'no-version']),
    check: versionsByUrl(['c|4', 's|5']),
  }

  it.each([
    ['f', '9', { origin: 'force', version: '1.0.x' }],
    ['s', '9', { origin: 'include', version: '9' }],
    ['s', undefined, { origin: 'fallback', version: '2' }],
    ['c', undefined, { origin: 'check', version: '4' }],
    ['other', undefined, { origin: 'newest' }],
    ['no-version', undefined, { origin: 'newest' }],
  ])('of %s with %s in the include is wished as %j', (url, include, expected) => {
    expect(wishedVersion({ url, include, rules })).toEqual(expected)
  })
})

describe('rules that a caller states', () => {
  it.each([
    [{}, true],
    [{ fallback: new Map([['s', '2']]) }, true],
    [{ force: undefined, checkedValueSets: new Map() }, true],
    [{ fallback: { s: '2' } }, false],
    [{ systemVersion: new Map() }, false],
    [[], false],
  ])('%j are accepted: %s', (rules, expected) => {
    expect(VERSION_RULES.is(rules)).toBe(expected)
  })
})
