import { expect, test } from 'vitest'
import { createContext, forRequest } from 'fhir-ops/context'
import type { JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { r4 } from '@fhir-ops/r4'

/** More than a function takes as arguments. */
const CHILDREN = 130_000
/** The default time limit would be too short for a busy machine. */
const patient = createContext({ storage: memoryStorage(), ...r4(), limits: { operationTimeoutMs: 300_000 } })
const findingsIn = async (resource: JsonObject, resources: readonly JsonObject[], kinds: RegExp): Promise<readonly string[]> =>
  (await validate(forRequest(patient, { resources }), { resource })).findings
    .filter(({ kind }) => kinds.test(kind))
    .map(({ severity, kind, expression }) => `${severity} ${kind} ${expression}`)
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
  expect(await findingsIn({ ...supplement, concept }, [WIDE], /^code-system-(?:designation|supplement)/)).toEqual([
    'information code-system-designation CodeSystem.concept[0]',
  ])
  const property = [{ code: 'p', uri: `${WIDE.url}#none`, type: 'string' }]
  const other = { ...WIDE, url: 'http://a.test/other', property, concept }
  expect(await findingsIn(other, [WIDE], /^code-system-property/)).toEqual(['warning code-system-property CodeSystem.property[0]'])
})

test('the codes under one code of an expansion may be more than a function takes', async () => {
  const contains = [{ abstract: true, display: 'all', contains: children((code) => ({ system: 'http://a.test/c', version: '1', code })) }]
  const expansion = { timestamp: '2020-01-01T00:00:00Z', identifier: 'urn:x:1', parameter: [{ name: 'a', valueString: 'b' }], contains }
  const valueSet = { resourceType: 'ValueSet', url: 'http://a.test/v', status: 'active', expansion: { ...expansion, total: 1, offset: 0 } }
  expect(await findingsIn(valueSet, [], /^value-set-expansion/)).toEqual(['warning value-set-expansion ValueSet.expansion'])
})
