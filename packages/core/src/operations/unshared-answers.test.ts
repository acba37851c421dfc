import { r4 } from '@fhir-ops/r4'
import { expect, it } from 'vitest'
import { closure, toConceptMap } from '../closure/index.js'
import { compare, toParameters as comparisonParameters } from '../compare/index.js'
import { createContext, type OperationContext } from '../context/index.js'
import {
  collectData,
  dataRequirements,
  evaluateMeasure,
  toLibrary,
  toMeasureReport,
  toParameters as collectedParameters,
} from '../evaluate/index.js'
import { expand, toValueSet } from '../expand/index.js'
import { isObject, type JsonObject } from '../json/index.js'
import { lookup, toParameters as lookupParameters } from '../lookup/index.js'
import { memoryStorage } from '../memory/index.js'
import { jsonSchema } from '../schema/index.js'
import { generateSnapshot } from '../snapshot/index.js'
import { subsumes, toParameters as subsumptionParameters } from '../subsumes/index.js'
import { toParameters as translationParameters, translate } from '../translate/index.js'
import { toParameters as codeParameters, validateCode, validateCodeInSystem } from '../validate-code/index.js'
import { toOperationOutcome, validate } from '../validate/index.js'

const BASE = 'http://example.org'
const system = `${BASE}/cs`
const a = { system, code: 'a' }

const CODES = {
  resourceType: 'CodeSystem',
  id: 'cs',
  url: system,
  version: '1',
  language: 'en',
  status: 'active',
  content: 'complete',
  property: [{ code: 'other', type: 'Coding' }],
  concept: [
    {
      code: 'a',
      display: 'A',
      extension: [{ url: `${BASE}/more`, extension: [{ url: 'x', valueCode: 'y' }] }],
      designation: [{ value: 'Aa', language: 'de', use: { system: `${BASE}/use`, code: 'short' } }],
      property: [{ code: 'other', valueCoding: { system, code: 'b' } }],
      concept: [{ code: 'b', display: 'B' }],
    },
  ],
}
const VALUES = {
  resourceType: 'ValueSet',
  id: 'vs',
  url: `${BASE}/vs`,
  version: '1',
  status: 'active',
  extension: [{ url: `${BASE}/more`, extension: [{ url: 'x', valueCode: 'y' }] }],
  contained: [{ resourceType: 'Organization', id: 'o', name: 'O' }],
  compose: { include: [{ system, concept: [{ code: 'a', extension: [{ url: `${BASE}/more`, valueCode: 'x' }] }, { code: 'b' }] }] },
}
const MAP = {
  resourceType: 'ConceptMap',
  id: 'cm',
  url: `${BASE}/cm`,
  status: 'active',
  group: [
    {
      source: system,
      target: `${BASE}/other`,
      element: [
        { code: 'a', target: [{ code: 'x', equivalence: 'equal', product: [{ property: 'urn:p', system: 'urn:s', value: 'v' }] }] },
      ],
    },
  ],
}
const PROFILE = {
  resourceType: 'StructureDefinition',
  id: 'profile',
  url: `${BASE}/profile`,
  name: 'Own',
  status: 'active',
  kind: 'resource',
  abstract: false,
  type: 'Patient',
  baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Patient',
  derivation: 'constraint',
  differential: { element: [{ id: 'Patient.name', path: 'Patient.name', min: 1 }] },
}
const concept = (code: string): object => ({ coding: [{ system: `${BASE}/kinds`, code }] })
const query = (expression: string): object => ({ criteria: { language: 'application/x-fhir-query', expression } })
const MEASURE = {
  resourceType: 'Measure',
  id: 'm',
  url: `${BASE}/m`,
  status: 'active',
  scoring: concept('proportion'),
  improvementNotation: concept('increase'),
  extension: [{ url: 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/cqfm-populationBasis', valueCode: 'Patient' }],
  group: [
    {
      id: 'g',
      code: concept('group'),
      extension: [
        {
          url: 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition/cqfm-improvementNotation',
          valueCodeableConcept: concept('decrease'),
        },
      ],
      population: [
        { code: concept('initial-population'), ...query('Patient') },
        { code: concept('denominator'), ...query('Patient') },
        { code: concept('numerator'), ...query('Patient?gender=female') },
      ],
      stratifier: [{ code: concept('stratifier'), ...query('Patient?gender=male') }],
    },
  ],
}
const PATIENT = { resourceType: 'Patient', id: 'p', gender: 'female', name: [{ family: 'P' }] }

const release = r4()
const storage = memoryStorage([CODES, VALUES, MAP, PROFILE, MEASURE, PATIENT], { indexer: release.indexer })
const ctx = createContext({ storage, ...release })
const url = VALUES.url
const period = { measure: 'm', periodStart: '2026', periodEnd: '2026' }
/** A new one for each call, as objects of the input are the caller's own in any case. */
const copyOf = <T extends object>(resource: T): T => structuredClone(resource)

const ANSWERS: readonly (readonly [string, (ctx: OperationContext) => Promise<object>])[] = [
  ['translate', async (ctx) => translationParameters(await translate(ctx, { ...a, mapId: 'cm' }))],
  [
    'expand with all there is',
    async (ctx) =>
      toValueSet(await expand(ctx, { url, includeDesignations: true, includeDefinition: true, properties: ['other', 'parent', 'child'] })),
  ],
  ['expand a code system', async (ctx) => toValueSet(await expand(ctx, { url: 'http://hl7.org/fhir/ValueSet/administrative-gender' }))],
  ['look up', async (ctx) => lookupParameters(await lookup(ctx, { ...a, properties: ['*'] }))],
  [
    'validate a code',
    async (ctx) => codeParameters(await validateCode(ctx, { url, codeableConcept: { coding: [{ ...a, display: 'Wrong' }] } })),
  ],
  ['validate a code in its system', async (ctx) => codeParameters(await validateCodeInSystem(ctx, { coding: { ...a, display: 'Wrong' } }))],
  [
    'compare',
    async (ctx) => comparisonParameters(await compare(ctx, { thisValueSet: { url }, otherValueSet: { valueSet: copyOf(VALUES) } })),
  ],
  ['subsume', async (ctx) => subsumptionParameters(await subsumes(ctx, { system, codeA: 'a', codeB: 'b' }))],
  [
    'close',
    async (ctx) => {
      await closure(ctx, { name: 'n' })
      return toConceptMap(await closure(ctx, { name: 'n', concepts: [a, { system, code: 'b' }] }))
    },
  ],
  ['validate', async (ctx) => toOperationOutcome(await validate(ctx, { resource: { ...PATIENT, gender: 'x' }, profiles: [PROFILE.url] }))],
  ['snapshot of a profile', async (ctx) => (await generateSnapshot(ctx, { url: PROFILE.url })).definition],
  ['snapshot of a type', async (ctx) => (await generateSnapshot(ctx, { url: PROFILE.baseDefinition })).definition],
  ['JSON Schema', async (ctx) => (await jsonSchema(ctx, { url: PROFILE.url })).schema],
  ['evaluate', async (ctx) => toMeasureReport(await evaluateMeasure(ctx, period))],
  ['evaluate with lists', async (ctx) => toMeasureReport(await evaluateMeasure(ctx, { ...period, reportType: 'subject-list' }))],
  ['data requirements', async (ctx) => toLibrary(await dataRequirements(ctx, period))],
  ['collect data', async (ctx) => collectedParameters(await collectData(ctx, { ...period, subject: 'p' }))],
]

it.each(ANSWERS)('what a caller changes in an answer changes no other answer: %s', async (_, ask) => {
  const [first, second] = [await ask(ctx), await ask(ctx)]
  const known = new Set(partsOf(second, '').map(({ part }) => part))
  expect(
    partsOf(first, '')
      .filter(({ part }) => known.has(part))
      .map(({ path }) => path),
  ).toEqual([])
})

it.each(ANSWERS)('a caller who has gone gets no answer: %s', async (_, ask) => {
  await expect(ask({ ...ctx, signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' })
})

it('a caller who has gone empties no closure table', async () => {
  await closure(ctx, { name: 'kept' })
  await closure(ctx, { name: 'kept', concepts: [a, { system, code: 'b' }] })
  await expect(closure({ ...ctx, signal: AbortSignal.abort() }, { name: 'kept' })).rejects.toMatchObject({ code: 'aborted' })
  expect((await closure(ctx, { name: 'kept', since: '0' })).entries).toHaveLength(1)
})

it.each([{ url }, { url: 'http://hl7.org/fhir/ValueSet/administrative-gender' }])(
  'an expansion can be sent to another thread: %j',
  async (input) => {
    const result = await expand(ctx, input)
    expect(toValueSet(structuredClone(result))).toEqual(toValueSet(result))
  },
)

/** Every object and list in a value. */
function partsOf(value: unknown, path: string): readonly { readonly part: object; readonly path: string }[] {
  if (!isObject(value) && !Array.isArray(value)) return []
  return [{ part: value, path }, ...Object.entries(value).flatMap(([name, member]) => partsOf(member, `${path}.${name}`))]
}

it('an answer about an inline definition shares nothing with it', async () => {
  const codeSystem = copyOf(CODES)
  const valueSet: JsonObject = copyOf(VALUES)
  const definition = copyOf(PROFILE)
  const codeableConcept = { coding: [a] }
  const given = new Set([codeSystem, valueSet, definition, codeableConcept].flatMap((one) => partsOf(one, '').map(({ part }) => part)))
  const answers = [
    lookupParameters(await lookup(ctx, { ...a, codeSystem, properties: ['*'] })),
    toValueSet(await expand(ctx, { valueSet, includeDefinition: true, includeDesignations: true })),
    (await generateSnapshot(ctx, { definition })).definition,
    codeParameters(await validateCode(ctx, { url, codeableConcept })),
  ]
  expect(
    answers.flatMap((answer) =>
      partsOf(answer, '')
        .filter(({ part }) => given.has(part))
        .map(({ path }) => path),
    ),
  ).toEqual([])
})
