import { createContext } from 'fhir-ops/context'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { describe, expect, test } from 'vitest'
import { r4 } from '@fhir-ops/r4'
import type { JsonObject } from 'fhir-ops/internal/json'
import { findingsOf } from './findings-of.js'

const ctx = createContext({ storage: memoryStorage(), ...r4() })

describe('an observation', () => {
  const observation = (members: JsonObject): string =>
    JSON.stringify({ resourceType: 'Observation', status: 'final', code: { text: 'x' }, ...members })
  const whole = { subject: { display: 'x' }, performer: [{ display: 'x' }], effectivePeriod: { start: '2020' } }
  test.each([
    ['off', {}, 0],
    ['warning', {}, 3],
    ['error', {}, 3],
    ['error', { ...whole, performer: undefined }, 1],
    ['error', whole, 0],
  ] as const)(
    'should say whom it is about, who made it and when, where best practices are %s: %j',
    async (bestPractice, members, count) => {
      const { findings } = await validate(ctx, { resource: observation(members), bestPractice })
      const advice = findings.filter(({ kind }) => kind === 'observation-advice')
      expect(advice.map(({ severity, expression }) => `${severity} ${expression}`)).toEqual(
        Array(count).fill(`${bestPractice} Observation`),
      )
    },
  )
})

describe('a parameter with the name of one of operations of FHIR', () => {
  const patient = { resourceType: 'Patient', active: true }
  const SAID = ['information parameter-type Parameters.parameter[0]']
  test.each<readonly [JsonObject, readonly string[]]>([
    [{ name: 'url', valueUri: 'http://a.org' }, []],
    [{ name: 'url', valueInteger: 1 }, SAID],
    [{ name: 'coding' }, SAID],
    [{ name: 'offset', resource: patient }, SAID],
    [{ name: 'valueSet', valueString: 'x' }, SAID],
    [{ name: 'valueSet', resource: patient }, SAID],
    [{ name: 'resource', resource: patient }, []],
    [{ name: 'resource', valueString: 'x' }, SAID],
    [{ name: 'something', valueInteger: 1 }, []],
  ])('%j', async (parameter, said) => {
    expect(await findingsOf({ resourceType: 'Parameters', parameter: [parameter] }, [], /^parameter-type/)).toEqual(said)
  })
})

test.each([
  ['Patient1', true, 1],
  ['Chicken/1', true, 1],
  ['Patient1', false, 0],
  ['Patient/1', true, 0],
  ['Patient/1/_history/2', true, 0],
  ['http://a.org/x', true, 0],
  ['urn:uuid:1f0e6ab7-0d3c-4b8b-9d3e-0a6f0d9b2c11', true, 0],
])('the reference %s is suspicious where REST is assumed (%s): %d', async (reference, assumeValidRestReferences, count) => {
  const resource = JSON.stringify({ resourceType: 'Basic', code: { text: 'x' }, subject: { reference } })
  const { findings } = await validate(ctx, { resource, assumeValidRestReferences })
  const said = findings.filter(({ kind, severity }) => kind === 'reference' && severity === 'warning')
  expect(said.map(({ expression }) => expression)).toEqual(Array(count).fill('Basic.subject'))
})
