import { r4 } from '@fhir-ops/r4'
import { createContext } from 'fhir-ops/context'
import { lookup } from 'fhir-ops/lookup'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { expect, it } from 'vitest'
import { unitConversion, unitsOfMeasure } from './ucum.js'

const RARE = 'http://example.org/StructureDefinition/rare-unit'
const { indexer, ...release } = r4()
const limited = {
  resourceType: 'StructureDefinition',
  url: RARE,
  name: 'RareUnit',
  status: 'active',
  kind: 'resource',
  abstract: false,
  type: 'Observation',
  baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Observation',
  derivation: 'constraint',
  differential: {
    element: [
      {
        id: 'Observation',
        path: 'Observation',
        constraint: [{ key: 'u-1', severity: 'error', human: 'at least a fathom', expression: "value > 1 '[fth_us]'" }],
      },
    ],
  },
}
const storage = memoryStorage([{ ...limited, id: 'rare-unit' }], { indexer })

it('names units', async () => {
  const ctx = createContext({ storage, codeSystems: [unitsOfMeasure()] })
  expect(await lookup(ctx, { system: 'http://unitsofmeasure.org', code: 'mg/dL' })).toMatchObject({
    designations: [{}, { value: '(milligram) / (deciliter)' }, { value: 'milligram per deciliter' }],
  })
})

it.each([
  [1, false],
  [2, true],
])('compares units that are rare: %d m is more than a fathom: %s', async (value, valid) => {
  const resource = JSON.stringify({
    resourceType: 'Observation',
    meta: { profile: [RARE] },
    status: 'final',
    code: { text: 'depth' },
    valueQuantity: { value, unit: 'm', system: 'http://unitsofmeasure.org', code: 'm' },
  })
  const told = await validate(createContext({ ...release, storage, convertUnit: unitConversion() }), { resource })
  expect(told.findings.filter(({ severity }) => severity === 'error').length === 0, JSON.stringify(told.findings)).toBe(valid)
})

it.each([
  ['mg/dL', []],
  ['{score}', []],
  ['mg{protein}', ['warning unit-annotation Observation.value.ofType(Quantity)']],
  ['zork', ['error code-unknown Observation.value.ofType(Quantity).code']],
])('knows whether the code of a quantity is a unit: %s', async (code, said) => {
  const ctx = createContext({ ...release, storage, codeSystems: [unitsOfMeasure()] })
  const valueQuantity = { value: 1, unit: code, system: 'http://unitsofmeasure.org', code }
  const { findings } = await validate(ctx, {
    resource: { resourceType: 'Observation', status: 'final', code: { text: 'x' }, valueQuantity },
  })
  expect(findings.map(({ severity, kind, expression }) => `${severity} ${kind} ${expression}`)).toEqual(said)
})
