import { expect, test } from 'vitest'
import type { JsonObject } from 'fhir-ops/internal/json'
import { findingsOf } from './findings-of.js'

const MANY = 30_000
const CUT = 'warning findings-cut '

test.each([
  ['extensions', { extension: Array.from({ length: MANY }, (_, i) => ({ url: `http://unknown.net/${i}`, valueString: 'x' })) }],
  ['properties', Object.fromEntries(Array.from({ length: MANY }, (_, i) => [`p${i}`, 1]))],
])('of thousands of unknown %s, only what is told is looked up', async (_, members) => {
  const found = await findingsOf({ resourceType: 'Patient', ...members }, [], /./)
  expect([found.length, found.at(-1)]).toEqual([101, CUT])
})

/** More than a function takes as arguments. */
const CHILDREN = 150_000
const children = (make: (code: string) => JsonObject): readonly JsonObject[] =>
  Array.from({ length: CHILDREN }, (_, index) => make(`c${index}`))
const WIDE = {
  resourceType: 'CodeSystem',
  url: 'http://a.test/wide',
  status: 'active',
  content: 'complete',
  concept: [{ code: 'root', concept: children((code) => ({ code, display: `of ${code}` })) }],
}

test('the children of one concept may be more than a function takes', async () => {
  const supplement = { ...WIDE, url: 'http://a.test/supplement', content: 'supplement', supplements: WIDE.url }
  const concept = [{ code: 'c1', display: 'other' }]
  expect(await findingsOf({ ...supplement, concept }, [WIDE], /^code-system-(?:designation|supplement)/)).toEqual([
    'information code-system-designation CodeSystem.concept[0]',
  ])
  const property = [{ code: 'p', uri: `${WIDE.url}#none`, type: 'string' }]
  const other = { ...WIDE, url: 'http://a.test/other', property, concept }
  expect(await findingsOf(other, [WIDE], /^code-system-property/)).toEqual(['warning code-system-property CodeSystem.property[0]'])
})

test('the codes under one code of an expansion may be more than a function takes', async () => {
  const contains = [{ abstract: true, display: 'all', contains: children((code) => ({ system: 'http://a.test/c', version: '1', code })) }]
  const expansion = { timestamp: '2020-01-01T00:00:00Z', identifier: 'urn:x:1', parameter: [{ name: 'a', valueString: 'b' }], contains }
  const valueSet = { resourceType: 'ValueSet', url: 'http://a.test/v', status: 'active', expansion: { ...expansion, total: 1, offset: 0 } }
  expect(await findingsOf(valueSet, [], /^value-set-expansion/)).toEqual(['warning value-set-expansion ValueSet.expansion'])
})
