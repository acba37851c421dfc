import { createContext, type OperationContext } from 'fhir-ops/context'
import { packageLayer } from 'fhir-ops/packages'
import { expand } from 'fhir-ops/expand'
import type { JsonObject } from 'fhir-ops/internal/json'
import { lookup } from 'fhir-ops/lookup'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { validateCode } from 'fhir-ops/validate-code'
import { describe, expect, test } from 'vitest'
import { r4 } from '@fhir-ops/r4'

const SYSTEM = 'http://terminology.hl7.org/CodeSystem/location-physical-type'
const ALL = `${SYSTEM}?fhir_vs`
const newer: JsonObject = {
  resourceType: 'CodeSystem',
  id: 'location-physical-type',
  url: SYSTEM,
  version: '1.0.0',
  status: 'active',
  content: 'complete',
  concept: [
    { code: 'wa', display: 'Ward' },
    { code: 'pod', display: 'Pod' },
  ],
}
const base = r4()
const layer = packageLayer({
  name: 'terminology.test',
  version: '9.0.0',
  dependencies: new Map(),
  definitions: [{ name: 'CodeSystem-x.json', url: SYSTEM, type: 'CodeSystem', text: JSON.stringify(newer) }],
})

describe.each<[string, OperationContext]>([
  ['a package below the release', createContext({ ...base, storage: memoryStorage(), definitions: [...base.definitions, layer] })],
  ['a package above the release', createContext({ ...base, storage: memoryStorage(), definitions: [layer, ...base.definitions] })],
  ['the storage', createContext({ ...base, storage: memoryStorage([newer], { indexer: base.indexer }) })],
])('a code system of the release that %s defines anew, with a lower version', (_, ctx) => {
  const codesFound = async (code: string): Promise<readonly string[]> => {
    const resource = JSON.stringify({ resourceType: 'Location', physicalType: { coding: [{ system: SYSTEM, code }] } })
    const { findings } = await validate(ctx, { resource })
    return findings.filter(({ severity }) => severity === 'error').map(({ kind, expression }) => `${kind} ${expression}`)
  }

  test('has the new codes for $validate, and not the old ones', async () => {
    expect(await codesFound('pod')).toEqual([])
    expect(await codesFound('ro')).toEqual(['code-unknown Location.physicalType.coding[0].code'])
  })

  test('is the new one for $lookup, and the old one by its version', async () => {
    expect((await lookup(ctx, { system: SYSTEM, code: 'wa' })).version).toBe('1.0.0')
    expect((await lookup(ctx, { system: SYSTEM, code: 'ro', version: '4.0.1' })).version).toBe('4.0.1')
  })

  test('is the new one for $expand and $validate-code', async () => {
    expect((await expand(ctx, { url: ALL })).contains.map(({ code }) => code)).toEqual(['wa', 'pod'])
    const asked = { url: ALL, coding: { system: SYSTEM, code: 'pod' } }
    expect((await validateCode(ctx, asked)).result).toBe(true)
  })
})
