import { describe, expect, test } from 'vitest'
import { createContext, forRequest, type ValidationPolicy } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { isObject, objectAt, objectsAt, type JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import type { OperationRequest, OperationResponse } from 'fhir-ops/operation'
import { parametersFromQuery } from 'fhir-ops/internal/parameters'
import { putResource } from 'fhir-ops/storage'
import { validate } from 'fhir-ops/validate'
import { r4 } from '@fhir-ops/r4'
import { validateOperation } from 'fhir-ops/internal/operations'

type Refusal = NonNullable<ValidationPolicy['refuse']>[number]

const { definitions, types } = r4()
const storage = memoryStorage()
const ctx = createContext({ storage, definitions, types, newId: () => 'new-id' })

const VALID = { resourceType: 'Patient', name: [{ family: 'X' }] }
const TWICE = {
  resourceType: 'Parameters',
  parameter: [
    { name: 'resource', resource: VALID },
    { name: 'resource', resource: VALID },
  ],
}
const PROFILE: JsonObject = {
  resourceType: 'StructureDefinition',
  url: 'http://example.org/StructureDefinition/named',
  name: 'Named',
  status: 'active',
  kind: 'resource',
  abstract: false,
  type: 'Patient',
  baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Patient',
  derivation: 'constraint',
  differential: { element: [{ id: 'Patient.birthDate', path: 'Patient.birthDate', min: 1 }] },
}

interface Call extends Partial<OperationRequest> {
  readonly query?: Readonly<Record<string, string>>
}

function call(body: unknown, { query = {}, ...request }: Call = {}): Promise<OperationResponse> {
  const bodyText = typeof body === 'string' ? body : JSON.stringify(body)
  const parameters = parametersFromQuery(Object.entries(query))
  return validateOperation.run(forRequest(ctx, { resources: [PROFILE] }), {
    type: 'Patient',
    method: 'POST',
    parameters,
    bodyText,
    strict: false,
    ...request,
  })
}

function textsOf(outcome: unknown): readonly unknown[] {
  return isObject(outcome) ? objectsAt(outcome, 'issue').map((issue) => objectAt(issue, 'details')?.['text']) : []
}

async function errorOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.catch((caught: unknown) => caught)
  return error instanceof OperationError ? error.code : 'no error'
}

const ALL_OK = {
  status: 200,
  resource: {
    resourceType: 'OperationOutcome',
    id: 'ok',
    issue: [{ severity: 'information', code: 'informational', details: { text: 'All OK' } }],
  },
}

describe('$validate', () => {
  test('answers All OK for a valid resource', async () => {
    expect(await call(VALID)).toEqual(ALL_OK)
  })

  test('reports a byte order mark that is left when the text is decoded, with its position', async () => {
    const answer = await call(`\uFEFF${JSON.stringify(VALID)}`, { query: { places: 'true' } })
    expect(answer.resource['issue']).toMatchObject([
      { severity: 'fatal', details: { text: 'The text is not valid JSON: unexpected byte order mark.' } },
    ])
    expect(JSON.stringify(answer.resource)).toContain('"valueInteger":1')
  })

  test('names an unknown property by its path', async () => {
    const answer = await call({ ...VALID, name: [{ family: 'X', foo: 1 }] })
    expect(answer).toMatchObject({
      status: 200,
      resource: {
        id: 'new-id',
        issue: [
          {
            severity: 'error',
            code: 'structure',
            details: { text: 'Invalid additional property "Patient.name[0].foo"' },
            expression: ['Patient.name[0].foo'],
          },
        ],
      },
    })
  })

  test('keeps the id ok when there are warnings only', async () => {
    expect(await call({ ...VALID, birthDate: '1700-01-01' })).toMatchObject({ resource: { id: 'ok', issue: [{ severity: 'warning' }] } })
  })

  test.each([
    ['a bare resource with the profile in the query', VALID, { profile: String(PROFILE['url']) }],
    [
      'a Parameters resource',
      {
        resourceType: 'Parameters',
        parameter: [
          { name: 'resource', resource: VALID },
          { name: 'mode', valueCode: 'create' },
          { name: 'profile', valueUri: PROFILE['url'] },
        ],
      },
      {},
    ],
  ])('checks a profile that comes with %s', async (_, body, query) => {
    expect(await call(body, { query })).toMatchObject({ resource: { issue: [{ code: 'structure', expression: ['Patient'] }] } })
  })

  test('finds problems and positions inside a Parameters resource', async () => {
    const text =
      '{"resourceType":"Parameters","parameter":[{"name":"resource","resource":{"resourceType":"Patient","active":true,"active":true}}]}'
    expect(await call(text)).toMatchObject({ resource: { issue: [{ code: 'invalid', expression: ['Patient.active'] }] } })
  })

  test.each([
    ['a bare resource', 'Patient', '{"resourceType":"Patient",\n "Name":[{"text":"x"}]}', { places: 'true' }, [2, 9]],
    ['what cannot be read', 'Patient', '{"resourceType":"Patient",\n\n  ]', { places: 'true' }, [3, 3]],
    ['an unknown type', 'Patint', '\n {"resourceType":"Patint"}', { places: 'true' }, [2, 2]],
    [
      'a resource in Parameters',
      'Patient',
      '{"resourceType":"Parameters","parameter":[{"name":"places","valueBoolean":true},\n{"name":"resource","resource":\n  {"resourceType":"Patient","gender":["male"]}}]}',
      {},
      [3, 38],
    ],
    ['a required element that is absent', 'Observation', ' {"resourceType":"Observation","status":"final"}', { places: 'true' }, [1, 2]],
  ])('tells line and column in %s when asked', async (_, type, text, query, [line, column]) => {
    const { resource } = await call(text, { type, query })
    const [issue] = objectsAt(resource, 'issue')
    expect(issue?.['extension']).toEqual(
      expect.arrayContaining([
        { url: 'http://hl7.org/fhir/StructureDefinition/operationoutcome-issue-line', valueInteger: line },
        { url: 'http://hl7.org/fhir/StructureDefinition/operationoutcome-issue-col', valueInteger: column },
      ]),
    )
  })

  test('tells what was perhaps meant, and how to change it', async () => {
    const { resource } = await call({ resourceType: 'Patient', birthdate: '2020' })
    expect(resource).toMatchObject({
      issue: [
        {
          extension: [
            { url: 'http://hl7.org/fhir/StructureDefinition/operationoutcome-message-id', valueString: 'unknown-property' },
            {
              url: 'https://fhir-ops.dev/StructureDefinition/issue-fix',
              valueString: '[{"op":"move","from":"/birthdate","path":"/birthDate"}]',
            },
          ],
          diagnostics: "Did you mean 'birthDate'?",
        },
      ],
    })
  })

  test('takes a Parameters resource at Parameters/$validate for what is to be validated', async () => {
    const body = { resourceType: 'Parameters', parameter: [{ name: 'a', valueString: 'b' }] }
    expect(await call(body, { type: 'Parameters' })).toEqual(ALL_OK)
  })

  test('validates what is stored when there is no body', async () => {
    await storage.write([putResource({ type: 'Patient', id: 'p', source: { ...VALID, id: 'p' } }, () => [])])
    expect(await call('', { id: 'p' })).toEqual(ALL_OK)
    expect(await errorOf(call('', { id: 'q' }))).toBe('not-found')
    expect(await errorOf(call(''))).toBe('parameter-required')
  })

  test.each([{}, { resource: undefined }, { resource: null }])('a call with %j from JavaScript is refused in words', async (input) => {
    expect(await errorOf(Reflect.apply(validate, undefined, [ctx, input]))).toBe('parameter-required')
  })

  test.each([
    ['{"resourceType":"Patient"', 'The text is not valid JSON: unexpected end of the text.'],
    ['{"resourceType', 'The text is not valid JSON: unexpected end of the text.'],
    ['{name', 'The text is not valid JSON: unexpected end of the text.'],
    ['[]', 'The content is not a resource: an object with a resourceType is required.'],
    ['{}', 'The content is not a resource: an object with a resourceType is required.'],
  ])('says that %j cannot be read', async (text, problem) => {
    expect(await call(text)).toMatchObject({
      status: 400,
      resource: { issue: [{ severity: 'fatal', code: 'invalid', details: { text: problem } }] },
    })
  })

  test.each([
    ['an unknown profile', 'profile-not-found', VALID, { profile: 'http://example.org/none' }],
    ['an unknown mode', 'parameter-value', VALID, { mode: 'dream' }],
    ['an unknown level', 'parameter-value', VALID, { level: 'fatal' }],
    ['a profile that is not named', 'parameter-required', VALID, { mode: 'profile' }],
    ['deleting without an id', 'parameter-required', '', { mode: 'delete' }],
    ['a resource of another type', 'body-structure', { resourceType: 'Group' }, {}],
    ['an unknown parameter', 'parameter-invalid', VALID, { foo: 'bar' }],
    ['two resources', 'parameter-invalid', TWICE, {}],
  ])('refuses %s', async (_, code, body, query) => {
    expect(await errorOf(call(body, { query }))).toBe(code)
  })

  test('says that it is the profile that cannot be found', async () => {
    await expect(call(VALID, { query: { profile: 'http://example.org/none' } })).rejects.toMatchObject({ expression: ['profile'] })
  })

  test.each<[profile: string, known: string | RegExp]>([
    ['http://example.org/none', /could not be found\.$/],
    ['Patient', 'A profile is named by its canonical URL, such as http://hl7.org/fhir/StructureDefinition/Patient.'],
    ['StructureDefinition/named', 'A profile is named by its canonical URL'],
    ['http://hl7.org/fhir/StructureDefinition/Patient|9', "Known version: 'http://hl7.org/fhir/StructureDefinition/Patient|4.0.1'."],
    ['http://hl7.org/fhir/ValueSet/administrative-gender', 'It is the canonical URL of a ValueSet.'],
  ])('says what is known in place of the profile %s', async (profile, known) => {
    await expect(call(VALID, { query: { profile } })).rejects.toThrow(known)
  })

  test('says which version is known in place of the one that a resource claims', async () => {
    const claim = { ...VALID, meta: { profile: ['http://hl7.org/fhir/StructureDefinition/Patient|9'] } }
    const [text] = textsOf((await call(claim)).resource)
    expect(text).toMatch(
      /could not be found and has not been checked\. Known version: 'http:\/\/hl7\.org\/fhir\/StructureDefinition\/Patient\|4\.0\.1'\.$/,
    )
  })

  test('tells a profile that is derived from itself from one whose base is not known', async () => {
    const derived = { ...PROFILE, url: 'http://example.org/StructureDefinition/derived' }
    const answer = (base: string): Promise<readonly unknown[]> =>
      validate(forRequest(ctx, { resources: [{ ...derived, baseDefinition: base }] }), { resource: VALID, profiles: [derived.url] }).then(
        ({ findings }) => findings.map(({ text }) => text),
      )
    expect(await answer(derived.url)).toEqual([expect.stringMatching(/: it is derived from itself\.$/)])
    expect(await answer('http://example.org/none')).toEqual([
      expect.stringMatching(/: it is derived from 'http:\/\/example\.org\/none', which could not be found\.$/),
    ])
  })

  test('names an array as what it is', async () => {
    const [text] = textsOf((await call({ ...VALID, contact: [[]] })).resource)
    expect(text).toBe('This element must be an object, not an array.')
  })

  describe('with a mode', () => {
    const kinds = ({ resource }: OperationResponse): readonly unknown[] =>
      objectsAt(resource, 'issue').flatMap((issue) => objectsAt(issue, 'extension').map(({ valueString }) => valueString))
    const asked = async (mode: string, id: string | undefined, body: unknown): Promise<readonly unknown[] | string> => {
      const answer = call(body, { query: { mode }, ...(id !== undefined && { id }) })
      return answer.then(kinds, () => errorOf(answer))
    }
    const patient = (id: string, versionId?: string): JsonObject => ({
      ...VALID,
      id,
      ...(versionId !== undefined && { meta: { versionId } }),
    })

    test.each<readonly [mode: string, id: string | undefined, body: unknown, said: readonly string[] | string]>([
      ['create', undefined, VALID, []],
      ['create', 'stored', VALID, 'parameter-value'],
      ['update', 'stored', patient('stored'), []],
      ['update', 'stored', patient('stored', '1'), []],
      ['update', 'stored', patient('stored', '7'), ['update-version']],
      ['update', 'stored', patient('other'), ['update-id']],
      ['update', 'stored', VALID, ['update-id']],
      ['update', undefined, VALID, ['update-id']],
      ['update', undefined, patient('stored', '7'), ['update-version']],
      ['update', 'new', patient('new'), []],
      ['delete', 'stored', '', []],
      ['delete', 'stored', { resourceType: 'Patient', foo: 1 }, []],
      ['delete', 'nothing', '', 'not-found'],
    ])('%s of %s', async (mode, id, body, said) => {
      await storage.write([{ op: 'delete', type: 'Patient', id: 'stored' }])
      const { [0]: written } = await storage.write([putResource({ type: 'Patient', id: 'stored', source: patient('stored') }, () => [])])
      const version = written !== undefined && 'versionId' in written ? String(written.versionId) : '1'
      const text = typeof body === 'string' ? body : JSON.stringify(body).replace('"versionId":"1"', `"versionId":"${version}"`)
      expect(await asked(mode, id, text)).toEqual(said)
    })

    test.each(['update', 'delete'])('%s needs the right to read what is stored', async (mode) => {
      const forbid = (interaction: string): void => {
        if (interaction === 'read') throw new OperationError('forbidden', 'no')
      }
      const request = {
        type: 'Patient',
        method: 'POST',
        id: 'stored',
        parameters: parametersFromQuery([['mode', mode]]),
        strict: false,
      } as const
      expect(await errorOf(validateOperation.run(forRequest(ctx, { authorize: forbid }), request))).toBe('forbidden')
    })
  })

  test('tells best practices and levels as asked', async () => {
    const severities = async (query: Readonly<Record<string, string>>): Promise<readonly unknown[]> => {
      const { resource } = await call({ ...VALID, name: [{ family: ' X' }] }, { query })
      return objectsAt(resource, 'issue').map(({ severity, code }) => `${String(severity)} ${String(code)}`)
    }
    expect(await severities({})).toEqual(['warning invalid'])
    expect(await severities({ bestPractice: 'information' })).toEqual(['information invariant', 'warning invalid'])
    expect(await severities({ bestPractice: 'error' })).toEqual(['error invariant', 'warning invalid'])
    expect(await severities({ bestPractice: 'error', level: 'error' })).toEqual(['error invariant'])
    expect(await severities({ level: 'error' })).toEqual(['information informational'])
  })

  test('refuses markup and examples as asked', async () => {
    const body = {
      resourceType: 'DocumentReference',
      status: 'current',
      description: 'a <script>b</script>',
      content: [{ attachment: { url: 'https://files.example.org/1', contentType: 'text/plain' } }],
    }
    const severities = async (...refuse: readonly string[]): Promise<readonly unknown[]> => {
      const parameters = parametersFromQuery(refuse.map((one) => ['refuse', one] as const))
      const { resource } = await call(body, { type: 'DocumentReference', parameters })
      return objectsAt(resource, 'issue').map(({ severity, expression }) => `${String(severity)} ${String(expression)}`)
    }
    expect(await severities()).toEqual(['information DocumentReference.description'])
    expect(await severities('markup', 'examples')).toEqual([
      'error DocumentReference.description',
      'error DocumentReference.content[0].attachment.url',
    ])
  })

  test.each([
    ['a <name>', { none: 'warning', markup: 'warning', markdown: 'error' }],
    ['a <b>b</b>', { none: 'warning', markup: 'error', markdown: 'error' }],
    ['a `<b>b</b>`', { none: undefined, markup: undefined, markdown: undefined }],
  ])('refuses markup in markdown as asked: %s', async (purpose, expected) => {
    const resource = { resourceType: 'ValueSet', status: 'active', url: 'http://a.test/vs', purpose }
    const severity = async (...refuse: readonly Refusal[]): Promise<string | undefined> =>
      (await validate(ctx, { resource, refuse })).findings.find(({ expression }) => expression === 'ValueSet.purpose')?.severity
    expect({ none: await severity(), markup: await severity('markup'), markdown: await severity('markdown') }).toEqual(expected)
  })

  test.each([
    [{ experimental: true }, ['error ValueSet', 'error ValueSet.contained[0]']],
    [{ experimental: false }, []],
    [{}, []],
  ])('refuses experimental definitions as asked: VALIDATION_NO_EXPERIMENTAL_CONTENT: %j', async (own, expected) => {
    const inner = { resourceType: 'ValueSet', id: 'i', status: 'active', compose: { include: [{ system: 'http://a.test/cs' }] }, ...own }
    const outer = { ...inner, id: 'o', contained: [inner], compose: { include: [{ valueSet: ['#i'] }] } }
    const said = async (...refuse: readonly Refusal[]): Promise<readonly string[]> =>
      (await validate(ctx, { resource: outer, refuse })).findings
        .filter(({ kind }) => kind === 'definition-status')
        .map(({ severity, expression }) => `${severity} ${String(expression)}`)
    expect(await said('experimental')).toEqual(expected)
    expect(await said()).toEqual([])
  })

  test('refuses markup in texts only where it is to be refused in all of them', async () => {
    const resource = { resourceType: 'Patient', name: [{ text: 'a <b>b</b>' }] }
    const severities = async (refuse: Refusal): Promise<readonly string[]> =>
      (await validate(ctx, { resource, refuse: [refuse] })).findings.map(({ severity }) => severity)
    expect([await severities('markdown'), await severities('markup')]).toEqual([['information'], ['error']])
  })

  test.each<readonly [what: string, members: JsonObject, kinds: readonly string[]]>([
    ['with white space around it', { name: [{ text: ' a <b>b</b> ' }] }, ['primitive-space', 'string-markup']],
    ['of a name of its own', { name: [{ text: '<a_b>x</a_b>' }] }, ['string-markup']],
    ['in a uri', { implicitRules: 'http://a.test/<b>x</b>' }, ['string-markup']],
  ])('sees markup %s', async (_, members, kinds) => {
    const resource = { resourceType: 'Patient', ...members }
    const { findings } = await validate(ctx, { resource, refuse: ['markup'] })
    expect(findings.map(({ kind }) => kind)).toEqual(kinds)
    expect(findings.at(-1)?.severity).toBe('error')
  })

  test.each(['{score}', '10*3{cells}/uL'])('reports annotations of units as best practices are asked for: %s', async (code) => {
    const valueQuantity = { value: 1, system: 'http://unitsofmeasure.org', code }
    const resource = { resourceType: 'Observation', status: 'final', code: { text: 'x' }, valueQuantity }
    const severity = async (bestPractice: NonNullable<ValidationPolicy['bestPractice']>): Promise<string | undefined> =>
      (await validate(ctx, { resource, bestPractice })).findings.find(({ kind }) => kind === 'unit-annotation')?.severity
    expect([await severity('off'), await severity('information'), await severity('error')]).toEqual([undefined, 'information', 'error'])
  })

  test.each([
    ['http://www.acme.org/x', 1],
    ['http://acme.com/x', 1],
    ['http://a.test/acme.com', 0],
  ])('refuses examples by their host: %s', async (implicitRules, count) => {
    const { findings } = await validate(ctx, { resource: { resourceType: 'Patient', implicitRules }, refuse: ['examples'] })
    expect(findings.filter(({ kind }) => kind === 'uri-example')).toHaveLength(count)
  })

  test('takes the url of a definition for its name, where examples are refused', async () => {
    const include = [{ system: 'http://example.org/cs' }]
    const resource = { resourceType: 'ValueSet', status: 'active', url: 'http://example.org/ValueSet/a', compose: { include } }
    const { findings } = await validate(ctx, { resource, refuse: ['examples'] })
    const refused = findings.filter(({ kind }) => kind === 'uri-example')
    expect(refused.map(({ expression }) => expression)).toEqual(['ValueSet.compose.include[0].system'])
  })

  test('takes the fullUrl of an entry for its name, where examples are refused', async () => {
    const entry = [{ fullUrl: 'http://example.org/fhir/Patient/a', resource: { ...VALID, id: 'a' } }]
    const { findings } = await validate(ctx, { resource: { resourceType: 'Bundle', type: 'collection', entry }, refuse: ['examples'] })
    expect(findings.filter(({ kind }) => kind === 'uri-example')).toEqual([])
  })

  test('takes a profile that is not for Bundles as one for the first entry', async () => {
    const entry = [{ fullUrl: 'http://a.org/fhir/Patient/a', resource: { ...VALID, id: 'a' } }]
    const bundle = { resourceType: 'Bundle', type: 'collection', entry }
    const { resource } = await call(bundle, { type: 'Bundle', query: { profile: String(PROFILE['url']) } })
    expect(objectsAt(resource, 'issue')).toMatchObject([{ code: 'structure', expression: ['Bundle.entry[0].resource'] }])
  })

  test('stores nothing', async () => {
    await call({ ...VALID, id: 'not-stored' })
    expect(await storage.read('Patient', 'not-stored')).toBeUndefined()
  })
})
