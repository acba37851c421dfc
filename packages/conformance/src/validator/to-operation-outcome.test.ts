import { expect, test } from 'vitest'
import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { toOperationOutcome, validate } from 'fhir-ops/validate'
import { r4 } from '@fhir-ops/r4'

const ctx = createContext({ storage: memoryStorage(), ...r4() })

test('the result of a validation becomes an OperationOutcome without a context', async () => {
  const wrong = await validate(ctx, { resource: '{"resourceType":"Patient","foo":1}' })
  const outcome = toOperationOutcome(wrong)
  expect(outcome).toMatchObject({
    resourceType: 'OperationOutcome',
    issue: [{ severity: 'error', code: 'structure', expression: ['Patient.foo'] }],
  })
  expect(outcome).not.toHaveProperty('id')
  expect(toOperationOutcome(wrong, { id: 'a' })).toMatchObject({ id: 'a' })
})

test('without findings the outcome says All OK', async () => {
  const right = await validate(ctx, { resource: '{"resourceType":"Patient","active":true}' })
  expect(toOperationOutcome(right)).toMatchObject({ id: 'ok', issue: [{ details: { text: 'All OK' } }] })
})
