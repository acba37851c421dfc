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

test('an explanation names the profiles and value sets that were asked, each once, and those that are not known', async () => {
  const profile = ['http://hl7.org/fhir/StructureDefinition/Patient', 'http://example.org/unknown']
  const resource = {
    resourceType: 'Patient',
    meta: { profile },
    maritalStatus: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-MaritalStatus', code: 'M' }] },
    contact: [{ relationship: [{ coding: [{ system: 'http://example.org/other', code: 'x' }] }] }],
  }
  const result = await validate(ctx, { resource, explain: true })
  const steps = result.explanation?.steps ?? []
  expect(steps.map(({ kind, outcome, definition }) => `${kind} ${outcome} ${definition}`)).toEqual(
    expect.arrayContaining([
      'profile chosen http://hl7.org/fhir/StructureDefinition/Patient|4.0.1',
      'profile unknown http://example.org/unknown',
      'value-set chosen http://hl7.org/fhir/ValueSet/marital-status|4.0.1',
    ]),
  )
  const own = steps.filter(({ kind }) => kind === 'profile' || kind === 'value-set').map(({ kind, text }) => `${kind} ${text}`)
  expect(new Set(own).size).toBe(own.length)
  expect(toOperationOutcome(result).extension).toMatchObject([{ url: 'https://fhir-ops.dev/StructureDefinition/explanation' }])
  const { explanation, ...plain } = await validate(ctx, { resource })
  expect(explanation).toBeUndefined()
  expect(plain.findings).toEqual(result.findings)
})
