import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ANY_CHARACTER, rounds } from '../../../../test/effort.js'
import { createContext, forRequest } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import type { JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import { FINDING_KINDS, validate, type ValidateResult } from 'fhir-ops/validate'
import { r4 } from '@fhir-ops/r4'

const ctx = createContext({ storage: memoryStorage(), ...r4(), limits: { operationTimeoutMs: 300_000 } })
const PROFILE = 'http://example.org/StructureDefinition/fuzz'
const HEAD = {
  resourceType: 'StructureDefinition',
  url: PROFILE,
  status: 'active',
  kind: 'resource',
  type: 'Observation',
  derivation: 'constraint',
  baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Observation',
}
const EXAMPLE = JSON.stringify({
  resourceType: 'Observation',
  meta: { profile: [PROFILE] },
  text: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml"><p>a &amp; b</p></div>' },
  contained: [{ resourceType: 'Patient', id: 'p', name: [{ given: ['A', null], _given: [null, { id: 'g' }] }] }],
  extension: [{ url: 'http://example.org/x', valueDecimal: 1.5 }],
  status: 'final',
  code: { coding: [{ system: 'http://loinc.org', code: '8867-4' }], text: 'x' },
  subject: { reference: '#p' },
  effectiveDateTime: '2024-02-29T10:00:00.123+01:00',
  valueQuantity: { value: 72, unit: '/min', system: 'http://unitsofmeasure.org', code: '/min' },
  component: [{ code: { text: 'y' }, valueInteger: 3 }],
})

const NAMES = [
  ...new Set(EXAMPLE.match(/"\w+"(?=:)/g)?.map((name) => name.slice(1, -1))),
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
]

/** JSON whose names are mostly FHIR's, with those that JavaScript's objects inherit among them. */
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 6 },
    fc.constantFrom(
      null,
      true,
      false,
      0,
      -1,
      1.5,
      1e300,
      '',
      ' ',
      'x',
      '#p',
      PROFILE,
      'http://loinc.org',
      'final',
      '2024-02-30',
      '<div>',
      '\ud800',
      '\u0000',
    ),
    fc.string({ maxLength: 20 }),
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('json'), { maxKeys: 6 }),
  ),
}))

/** What a request that nobody foresaw may lead to at most: an error of the library's own. */
async function outcomeOf(resource: string | JsonObject, resources: readonly JsonObject[] = []): Promise<ValidateResult | OperationError> {
  try {
    return await validate(forRequest(ctx, { resources }), { resource, places: true })
  } catch (error) {
    if (error instanceof OperationError) return error
    throw error
  }
}

function expectSound(result: ValidateResult | OperationError): void {
  if (result instanceof OperationError) return
  expect(result.findings.length).toBeLessThanOrEqual(101)
  for (const { kind, text } of result.findings) {
    expect(Object.hasOwn(FINDING_KINDS, kind)).toBe(true)
    expect(text.isWellFormed()).toBe(true)
  }
}

const INHERITED = [Object.prototype, Array.prototype, Function.prototype, String.prototype] as const
const namesOf = (): readonly (readonly (string | symbol)[])[] => INHERITED.map((prototype) => Reflect.ownKeys(prototype))

describe('whatever is validated, nothing throws but the errors of the library, and nothing is changed that objects inherit', () => {
  let before: ReturnType<typeof namesOf>
  beforeAll(() => {
    before = namesOf()
  })
  afterAll(() => {
    expect(namesOf()).toEqual(before)
  })

  test('any text', async () => {
    const text = fc.oneof(fc.string({ unit: ANY_CHARACTER, maxLength: 200 }), fc.json())
    await fc.assert(
      fc.asyncProperty(text, async (any) => expectSound(await outcomeOf(any))),
      { numRuns: rounds({ quick: 150, all: 1_500 }) },
    )
  })

  test('a resource with pieces of its text replaced', async () => {
    const piece = fc.oneof(
      fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '\\', 'null', '//', '/*', "'", '1e', '\u0000', ''),
      fc.string({ maxLength: 5 }),
    )
    const cuts = fc.array(fc.tuple(fc.nat({ max: EXAMPLE.length }), fc.nat({ max: 8 }), piece), { minLength: 1, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(cuts, async (damages) => {
        const text = damages.reduce((whole, [at, length, by]) => whole.slice(0, at) + by + whole.slice(at + length), EXAMPLE)
        expectSound(await outcomeOf(text))
      }),
      { numRuns: rounds({ quick: 150, all: 1_500 }) },
    )
  })

  test('resources of any type with any members', async () => {
    const type = fc.constantFrom(
      'Patient',
      'Observation',
      'Bundle',
      'Parameters',
      'Questionnaire',
      'QuestionnaireResponse',
      'Measure',
      'MeasureReport',
      'ValueSet',
      'CodeSystem',
      'ConceptMap',
      'StructureDefinition',
      'SearchParameter',
      'CapabilityStatement',
    )
    await fc.assert(
      fc.asyncProperty(type, json, async (resourceType, members) => {
        expectSound(await outcomeOf(JSON.stringify({ ...(typeof members === 'object' ? members : { id: members }), resourceType })))
      }),
      { numRuns: rounds({ quick: 40, all: 400 }) },
    )
  })

  test('resources against profiles of any content', async () => {
    const path = fc.constantFrom(
      'Observation',
      'Observation.code',
      'Observation.value[x]',
      'Observation.component',
      'Observation.component.code',
      'Observation.extension',
      'Observation.subject',
      'x',
    )
    const element = fc.record(
      {
        id: path,
        path,
        sliceName: fc.constantFrom('a', 'b'),
        min: fc.oneof(fc.integer(), json),
        max: fc.oneof(fc.constantFrom('0', '1', '*'), json),
        type: fc.oneof(fc.constant([{ code: 'Reference', targetProfile: [PROFILE] }]), json),
        slicing: fc.oneof(fc.constant({ discriminator: [{ type: 'profile', path: 'resolve()' }], rules: 'closed' }), json),
        binding: fc.oneof(fc.constant({ strength: 'required', valueSet: PROFILE }), json),
        constraint: fc.oneof(fc.constant([{ key: 'k', expression: `descendants().conformsTo('${PROFILE}')` }]), json),
        fixedString: json,
        patternCodeableConcept: json,
      },
      { requiredKeys: ['path'] },
    )
    const elements = fc.array(element, { maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(elements, json, async (differential, extra) => {
        const definition: JsonObject = JSON.parse(JSON.stringify({ ...HEAD, differential: { element: differential }, extension: extra }))
        expectSound(await outcomeOf(EXAMPLE, [definition]))
      }),
      { numRuns: rounds({ quick: 50, all: 150 }) },
    )
  })
})

describe('a profile with an expression that', () => {
  test.each([
    ['grows without end', "repeat(iif(true, 'x' + $this.toString()))"],
    ['multiplies itself', `(1|2|3|4|5|6|7|8|9).${'select((1|2|3|4|5|6|7|8|9)).'.repeat(12)}count() > 0`],
    ['backtracks', `'${'a'.repeat(40)}!'.matches('^(a+)+$')`],
    ['is nested', `${'('.repeat(500)}true${')'.repeat(500)}`],
    ['looks elsewhere', "('http://example.invalid/Patient/1').resolve().exists()"],
  ])('%s does not hold, however much time there is', async (_, expression) => {
    const profile: JsonObject = {
      ...HEAD,
      differential: {
        element: [{ id: 'Observation', path: 'Observation', constraint: [{ key: 'k', severity: 'error', human: 'h', expression }] }],
      },
    }
    const result = await outcomeOf(EXAMPLE, [profile])
    expect(result instanceof OperationError ? [] : result.findings.map(({ kind }) => kind)).toContain('invariant')
  })
})
