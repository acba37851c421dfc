import type { CodeSystem, ConceptMap, Patient, ValueSet } from 'fhir/r4.js'
import { expect, test } from 'vitest'
import { publishedTypes } from '../../test/r4-definitions.js'
import { compare } from '../compare/index.js'
import { createContext, forRequest } from '../context/index.js'
import { expand } from '../expand/index.js'
import { lookup } from '../lookup/index.js'
import { memoryStorage } from '../memory/index.js'
import { definitionEntries } from '../content/index.js'
import { putResource } from '../storage/index.js'
import { translate } from '../translate/index.js'
import { validate } from '../validate/index.js'
import { validateCodeInSystem, validateCode } from '../validate-code/index.js'

const system = 'http://example.org/animals'
const patient: Patient = { resourceType: 'Patient', id: 'ada' }
const codeSystem: CodeSystem = {
  resourceType: 'CodeSystem',
  url: system,
  status: 'active',
  content: 'complete',
  concept: [{ code: 'cat' }],
}
const valueSet: ValueSet = { resourceType: 'ValueSet', status: 'active', compose: { include: [{ system }] } }
const conceptMap: ConceptMap = {
  resourceType: 'ConceptMap',
  status: 'active',
  group: [{ source: system, target: 'urn:t', element: [{ code: 'cat', target: [{ code: 'felis', equivalence: 'equal' }] }] }],
}

test('resources of the types of @types/fhir are taken wherever a resource is', async () => {
  const ctx = forRequest(createContext({ storage: memoryStorage([patient]), types: publishedTypes() }), { resources: [codeSystem] })
  const coding = { system, code: 'cat' }
  expect(putResource({ type: 'Patient', id: 'ada', source: patient }, definitionEntries)).toMatchObject({ op: 'put' })
  expect(await validate(ctx, { resource: patient, checks: 'structure' })).toMatchObject({ valid: true })
  expect(await expand(ctx, { valueSet })).toMatchObject({ total: 1 })
  expect(await compare(ctx, { thisValueSet: { valueSet }, otherValueSet: { valueSet } })).toMatchObject({ relationship: 'same' })
  expect(await lookup(ctx, { system, code: 'cat', codeSystem })).toMatchObject({ code: 'cat' })
  expect(await validateCode(ctx, { valueSet, coding })).toMatchObject({ result: true })
  expect(await validateCodeInSystem(ctx, { codeSystem, coding })).toMatchObject({ result: true })
  expect(await translate(ctx, { conceptMap, coding, resources: [codeSystem] })).toMatchObject({ result: true })
})
