import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { r4 } from '@fhir-ops/r4'
import { expect, test } from 'vitest'
import { jsonSchema, type JsonSchemaInput } from './index.js'

async function checkOf(input: JsonSchemaInput): Promise<ValidateFunction> {
  const ctx = createContext({ storage: memoryStorage(), ...r4(), limits: { operationTimeoutMs: 60_000 } })
  const { schema } = await jsonSchema(ctx, input)
  return new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, code: { optimize: false } }).compile(schema)
}

test('a schema says whole resources inside others when that is asked for', async () => {
  const entry = (resource: object): object => ({ resourceType: 'Bundle', type: 'collection', entry: [{ resource }] })
  const misspelt = entry({ resourceType: 'Patient', nmae: 'x' })
  expect((await checkOf({ url: 'Bundle' }))(misspelt)).toBe(true)
  const whole = await checkOf({ url: 'Bundle', resources: 'whole' })
  expect(whole(misspelt)).toBe(false)
  expect(whole(entry({ resourceType: 'Patient', id: 'a', birthDate: '1980-12-10', name: [{ family: 'Lovell' }] }))).toBe(true)
})
