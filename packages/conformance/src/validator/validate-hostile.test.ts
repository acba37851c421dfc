import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { rounds } from '../../../../test/effort.js'
import { createContext, forRequest } from 'fhir-ops/context'
import { createScheduler } from 'fhir-ops/internal/context'
import type { JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import { validate, type ValidateResult } from 'fhir-ops/validate'
import { r4 } from '@fhir-ops/r4'

const { definitions, types } = r4()
const ctx = createContext({ storage: memoryStorage(), definitions, types })

function validated(resource: unknown): Promise<ValidateResult> {
  return validate(forRequest(ctx, {}), { resource: typeof resource === 'string' ? resource : JSON.stringify(resource) })
}

afterEach(() => void vi.restoreAllMocks())

describe('hostile resources', () => {
  test('a text that nests too deep is refused, one at the limit is walked', async () => {
    const nested = (depth: number): string => `{"resourceType":"Basic","code":{"text":"x"},"a":${'['.repeat(depth)}${']'.repeat(depth)}}`
    expect((await validated(nested(127))).findings).toMatchObject([{ kind: 'unknown-property' }])
    expect((await validated(nested(128))).findings).toMatchObject([{ kind: 'json-fatal' }])
    const items = (depth: number): object =>
      depth === 0 ? { linkId: '1', type: 'foo' } : { linkId: '1', type: 'group', item: [items(depth - 1)] }
    expect((await validated({ resourceType: 'Questionnaire', status: 'draft', item: [items(60)] })).valid).toBe(false)
  })

  test('an object that nests deeper than the stack, or in a circle, is refused as a text is', async () => {
    const item: { linkId: string; type: string; item?: object[] } = { linkId: '1', type: 'group' }
    let deep: object = item
    for (let n = 0; n < 20_000; n++) deep = { linkId: '1', type: 'group', item: [deep] }
    for (const inner of [deep, Object.assign(item, { item: [item] })]) {
      const { valid, findings } = await validate(forRequest(ctx, {}), {
        resource: { resourceType: 'Questionnaire', status: 'draft', item: [inner] },
      })
      expect(valid).toBe(false)
      expect(findings).toMatchObject([{ kind: 'json-fatal', text: 'The JSON has too many nested objects and arrays.' }])
    }
  })

  test('contained resources that refer to each other in a circle end', async () => {
    const contained = ['a', 'b'].map((id) => ({
      resourceType: 'Organization',
      id,
      name: id,
      partOf: { reference: id === 'a' ? '#b' : '#a' },
    }))
    expect((await validated({ resourceType: 'Patient', contained, managingOrganization: { reference: '#a' } })).valid).toBe(true)
  })

  test('no more than 100 findings are told, then one that says so', async () => {
    const name = Array.from({ length: 5_000 }, () => ({ foo: 1 }))
    const { findings } = await validated({ resourceType: 'Patient', name })
    expect(findings).toHaveLength(101)
    expect(findings.at(-1)).toMatchObject({ kind: 'findings-cut', code: 'too-costly' })
  })

  test('a hundred warnings do not hide an error', async () => {
    const name = [...Array.from({ length: 200 }, () => ({ text: ' x' })), { foo: 1 }]
    const { findings, valid } = await validated({ resourceType: 'Patient', name })
    expect(valid).toBe(false)
    expect(findings.map(({ kind }) => kind)).toContain('unknown-property')
  })

  test('a Bundle of 5,000 entries is checked, others run in between, and it ends at its time limit', async () => {
    const entry = Array.from({ length: 5_000 }, (_, index) => ({
      fullUrl: `http://example.org/Patient/${index}`,
      resource: {
        resourceType: 'Patient',
        id: `${index}`,
        name: [{ family: 'x' }],
        gender: 'male',
        managingOrganization: { reference: 'Organization/1' },
      },
    }))
    const bundle = JSON.stringify({ resourceType: 'Bundle', type: 'collection', entry })
    let pauses = 0
    const scheduler = { ...createScheduler(), turn: async () => void pauses++ }
    // Each look at the clock is a millisecond, so that the machine has no say.
    let now = performance.now()
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 1))
    const unhurried = forRequest({ ...ctx, scheduler }, { limits: { operationTimeoutMs: 1e9 } })
    expect((await validate(unhurried, { resource: bundle })).valid).toBe(true)
    expect(pauses).toBeGreaterThan(20)
    const hurried = forRequest(ctx, { limits: { operationTimeoutMs: 100 } })
    await expect(validate(hurried, { resource: bundle })).rejects.toMatchObject({ code: 'computation-timeout' })
  })

  const many = (make: (index: number) => unknown): readonly unknown[] => Array.from({ length: 2_000 }, (_, index) => make(index))
  const div = (inside: string): JsonObject => ({ status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml">${inside}</div>` })
  const concept = (code: string): unknown => ({ coding: [{ system: 'http://loinc.org', code }] })
  test.each([
    ['a long list', { resourceType: 'Patient', name: many((index) => ({ family: `${index}` })) }],
    ['a long list of texts', { resourceType: 'Patient', name: [{ given: many(String) }] }],
    [
      'a long list in slices',
      { resourceType: 'Observation', status: 'final', code: concept('85354-9'), component: many((i) => ({ code: concept(`${i}`) })) },
    ],
    ['a long narrative of tags', { resourceType: 'Patient', text: div('<p>a</p>'.repeat(200_000)) }],
    ['a long narrative of references', { resourceType: 'Patient', text: div('&amp;'.repeat(200_000)) }],
    ['a long narrative of links to nothing', { resourceType: 'Patient', text: div('<a href="#x">a</a>'.repeat(200_000)) }],
    ['a long text with a problem', `{"none":[${'1,'.repeat(50_000)}]}`],
  ])('others run in between while %s is checked', async (_, resource) => {
    expect(await pausesDuring(typeof resource === 'string' ? resource : JSON.stringify(resource))).toBeGreaterThan(3)
  })

  test('others run in between while a constraint of a profile that takes long is checked on each of many elements', async () => {
    const once = (inner: string): string => `(1|2|3|4|5|6|7|8|9|10).select(${inner})`
    const expression = `${once(once(once("'a'")))}.exists()`
    const constraint = ['c-1', 'c-2', 'c-3', 'c-4', 'c-5'].map((key) => ({ key, severity: 'error', human: key, expression }))
    const profile = profileWith([{ id: 'Patient.name', path: 'Patient.name', constraint }])
    const profiled = createContext({ ...r4(), storage: memoryStorage([{ ...profile, id: 'costly' }]) })
    const patient = { resourceType: 'Patient', meta: { profile: [profile['url']] }, name: many((n) => ({ family: `${n}` })).slice(0, 40) }
    expect(await pausesDuring(patient, profiled)).toBeGreaterThan(30)
    vi.restoreAllMocks()
    expect((await validate(profiled, { resource: patient })).valid).toBe(true)
  })

  test('others run in between while a tree of short lists is checked', async () => {
    const part = (depth: number): JsonObject => ({
      name: 'a',
      ...(depth === 0 ? { valueCode: 'b' } : { part: Array(30).fill(part(depth - 1)) }),
    })
    expect(await pausesDuring({ resourceType: 'Parameters', parameter: [part(3)] })).toBeGreaterThan(20)
  })

  const genders = 'http://hl7.org/fhir/administrative-gender'
  const form = { resourceType: 'Questionnaire', id: 'q', status: 'active', item: [{ linkId: '1', type: 'string', repeats: true }] }
  const measure = { resourceType: 'Measure', id: 'm', status: 'active', group: many((i) => ({ code: { text: `${i}` } })) }
  test.each<[string, JsonObject]>([
    [
      'the codes of a long map are looked up',
      { resourceType: 'ConceptMap', group: [{ source: genders, target: genders, element: many(() => ({ code: 'male' })) }] },
    ],
    [
      'the codes of a long value set are looked up',
      { resourceType: 'ValueSet', compose: { include: [{ system: genders, concept: many(() => ({ code: 'male' })) }] } },
    ],
    [
      'the search parameters of long capabilities are compared with their definitions',
      { resourceType: 'CapabilityStatement', rest: [{ searchParam: many(() => ({ definition: 'http://example.org/p', type: 'uri' })) }] },
    ],
    [
      'a long response is compared with its questionnaire',
      { resourceType: 'QuestionnaireResponse', contained: [form], questionnaire: '#q', item: many(() => ({ linkId: '1' })) },
    ],
    [
      'a translation is compared with a map of many groups',
      {
        resourceType: 'StructureMap',
        contained: [
          { resourceType: 'ConceptMap', id: 'c', group: many((i) => ({ element: [{ code: `${i}`, target: [{ code: `${i}` }] }] })) },
        ],
        structure: ['source', 'target'].map((mode) => ({ url: 'http://hl7.org/fhir/StructureDefinition/Patient', mode, alias: mode })),
        group: [
          {
            name: 'g',
            input: ['source', 'target'].map((mode) => ({ name: mode, type: mode, mode })),
            rule: [
              {
                name: 'r',
                source: [{ context: 'source', element: 'id', variable: 'v' }],
                target: Array(20).fill({
                  context: 'target',
                  element: 'gender',
                  transform: 'translate',
                  parameter: [{ valueId: 'v' }, { valueString: '#c' }],
                }),
              },
            ],
          },
        ],
      },
    ],
    [
      'the rules of a long group of a map are checked',
      {
        resourceType: 'StructureMap',
        group: [{ name: 'g', rule: [{ name: 'r', rule: many(() => ({ name: 'i', source: [{ context: 'source' }] })) }] }],
      },
    ],
    [
      'a narrative is compared with the data that it links',
      {
        resourceType: 'Patient',
        text: {
          ...div('<p id="a">a</p>'),
          extension: many((i) => ({
            url: 'http://hl7.org/fhir/StructureDefinition/textLink',
            extension: [
              { url: 'htmlid', valueString: 'a' },
              { url: 'data', valueUri: `#n${i}` },
            ],
          })),
        },
        name: many((i) => ({ id: `n${i}`, text: 'x' })),
      },
    ],
    [
      'a long report is compared with its measure',
      { resourceType: 'MeasureReport', contained: [measure], measure: '#m', group: many((i) => ({ code: { text: `${i}` } })) },
    ],
  ])('others run in between while %s', async (_, resource) => {
    expect(await pausesDuring(resource)).toBeGreaterThan(200)
  })

  async function pausesDuring(resource: string | JsonObject, context = ctx): Promise<number> {
    let pauses = 0
    let now = performance.now()
    // Each look at the clock is a millisecond, so that the machine has no say.
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 1))
    const unhurried = forRequest(
      { ...context, scheduler: { ...createScheduler(), turn: async () => void pauses++ } },
      { limits: { operationTimeoutMs: 1e9 } },
    )
    await validate(unhurried, { resource })
    return pauses
  }

  const own = { toString: 1, valueOf: 1 }
  const answered = (item: JsonObject, answer: JsonObject): JsonObject => ({
    resourceType: 'QuestionnaireResponse',
    status: 'completed',
    contained: [{ resourceType: 'Questionnaire', id: 'q', status: 'active', item: [{ linkId: '1', ...item }] }],
    questionnaire: '#q',
    item: [{ linkId: '1', answer: [answer] }],
  })
  const standards = 'http://hl7.org/fhir/StructureDefinition/structuredefinition-standards-status'
  const referenced = 'http://hl7.org/fhir/StructureDefinition/questionnaire-referenceResource'
  test.each<[string, JsonObject, string]>([
    ['an answer', answered({ type: 'decimal', answerOption: [{ valueString: '1' }] }, { valueDecimal: own }), 'answer-option'],
    ['an option', answered({ type: 'decimal', answerOption: [{ valueString: own }] }, { valueDecimal: 1 }), 'answer-option'],
    [
      'an allowed type',
      answered({ type: 'reference', extension: [{ url: referenced, valueCode: own }] }, { valueReference: { reference: 'Patient/1' } }),
      'answer-target',
    ],
    ['a status', { resourceType: 'ValueSet', status: 'draft', extension: [{ url: standards, valueCode: own }] }, 'empty-object'],
    ['an import', { resourceType: 'StructureMap', import: [own] }, 'empty-object'],
    ['a number of slices', profileOfSlices(own), 'empty-object'],
  ])('an object where %s belongs may have members of any name', async (_, resource, kind) => {
    expect((await validated(resource)).findings.map((finding) => finding.kind)).toContain(kind)
  })

  function profileOfSlices(max: unknown): JsonObject {
    return profileWith([
      { id: 'Patient.name', path: 'Patient.name', slicing: { discriminator: [{ type: 'value', path: 'use' }], rules: 'open' }, max },
      { id: 'Patient.name:a', path: 'Patient.name', sliceName: 'a', min: 1, max },
    ])
  }

  function profileWith(element: readonly JsonObject[]): JsonObject {
    return {
      resourceType: 'StructureDefinition',
      url: 'http://hostile.test/d',
      name: 'D',
      status: 'draft',
      kind: 'resource',
      abstract: false,
      type: 'Patient',
      baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Patient',
      derivation: 'constraint',
      differential: { element },
    }
  }

  test('names of properties are cut and escaped', async () => {
    const { findings } = await validated({ resourceType: 'Patient', ['x\n"'.repeat(1_000)]: 1 })
    expect(findings[0]?.text.length).toBeLessThan(250)
    expect(findings[0]?.text).toContain('x\\n\\"x')
  })

  test('a reference to many contained resources takes no more than their number', async () => {
    const ids = Array.from({ length: 3_000 }, (_, index) => `o${index}`)
    const contained = ids.map((id) => ({ resourceType: 'Organization', id, name: id }))
    const generalPractitioner = ids.map((id) => ({ reference: `#${id}` }))
    expect((await validated({ resourceType: 'Patient', contained, generalPractitioner })).valid).toBe(true)
  })

  test('random JSON is never an accident', async () => {
    const key = fc.constantFrom(
      'name',
      'id',
      'extension',
      'url',
      'contained',
      '_name',
      'meta',
      'profile',
      'text',
      'div',
      '__proto__',
      'constructor',
      'coding',
      'system',
      'code',
      'reference',
      'value',
      'valueString',
    )
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom(null, true, 1, -1.5, '', 'x', '#', '#a', 'http://x', '<div>', '2020-01-01', 'Patient/1'),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(key, tie('value'), { maxKeys: 4 }),
      ),
    }))
    const type = fc.constantFrom(
      'Patient',
      'Bundle',
      'Observation',
      'Questionnaire',
      'QuestionnaireResponse',
      'Parameters',
      'ValueSet',
      'StructureDefinition',
      'Any',
      'Element',
    )
    await fc.assert(
      fc.asyncProperty(type, fc.dictionary(key, value, { maxKeys: 6 }), async (resourceType, members) => {
        const { findings } = await validated({ resourceType, ...members })
        expect(findings.length).toBeLessThanOrEqual(101)
      }),
      { numRuns: rounds({ quick: 50, all: 500 }) },
    )
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })
})
