import { createHandler } from '@fhir-ops/handler'
import { r4 } from '@fhir-ops/r4'
import { createContext, forRequest } from 'fhir-ops/context'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { createSessions } from 'fhir-ops/sessions'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cqlOperations, evaluateCql, toParameters } from '../src/index.js'
import { libraryWith, type LibraryJson } from './library.fixture.js'
import { translator } from './translator.fixture.js'

type Handler = ReturnType<typeof createHandler>
/** The translator shares the thread here, and on a busy machine the first text that uses FHIR takes longer than the default time limit. */
const PATIENCE_MS = 60_000
let handler: Handler
beforeAll(async () => {
  const { indexer, ...release } = r4()
  handler = createHandler({
    context: createContext({ ...release, storage: memoryStorage(), limits: { operationTimeoutMs: PATIENCE_MS } }),
    sessions: createSessions({ store: memorySessionStore() }),
    baseUrl: 'http://localhost',
    auth: 'off',
    defaultPolicy: 'allow-authenticated',
    indexer,
    operations: cqlOperations({ translator }),
  })
  const coding = { system: 'http://loinc.example/s', code: 'glucose' }
  for (const resource of [
    { resourceType: 'Patient', id: 'p', birthDate: '1980-01-01' },
    { resourceType: 'Patient', id: 'q' },
    { resourceType: 'Observation', id: 'o1', status: 'final', code: { coding: [coding] }, subject: { reference: 'Patient/p' } },
    { resourceType: 'Observation', id: 'o2', status: 'final', code: { coding: [coding] }, subject: { reference: 'Patient/q' } },
    {
      resourceType: 'ValueSet',
      id: 'vs',
      status: 'active',
      url: 'http://x/vs',
      compose: { include: [{ system: coding.system, concept: [{ code: 'glucose' }] }] },
    },
    library(
      'Common',
      "library Common version '1'\nusing FHIR version '4.0.1'\ninclude FHIRHelpers version '4.0.1'\nvalueset \"Sugar\": 'http://x/vs'\ncontext Patient\ndefine Glucose: [Observation: \"Sugar\"]",
    ),
    library(
      'Main',
      "library Main version '1'\nusing FHIR version '4.0.1'\ninclude FHIRHelpers version '4.0.1'\ninclude Common version '1'\nparameter Factor Integer default 2\ncontext Patient\ndefine Many: Count(Common.Glucose) * Factor\ndefine Broken: singleton from {1, 2}\ndefine Private: 1",
    ),
  ]) {
    const { status } = await call('PUT', `${resource.resourceType}/${resource.id}`, resource)
    expect([resource.id, status]).toEqual([resource.id, 201])
  }
})
afterAll(() => handler.close())

function library(name: string, text: string): LibraryJson {
  return libraryWith(name, text, { type: { coding: [{ code: 'logic-library' }] } })
}

/** What the tests look at of Parameters and OperationOutcomes. */
interface Answer {
  readonly resourceType: string
  readonly issue: readonly {
    readonly code: string
    readonly severity: string
    readonly details: { readonly text: string }
    readonly expression?: readonly string[]
  }[]
  readonly parameter: readonly { readonly name: string; readonly valueQuantity?: object; readonly resource?: Answer }[]
}

async function call(method: string, path: string, body?: object): Promise<{ readonly status: number; readonly json: Answer }> {
  const response = await handler(
    new Request(`http://localhost/fhir/R4/${path}`, {
      method,
      headers: { 'content-type': 'application/fhir+json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  )
  const text = await response.text()
  return { status: response.status, json: text === '' ? undefined : JSON.parse(text) }
}

const said = (name: string, value: object): object => ({
  extension: [{ url: `http://hl7.org/fhir/StructureDefinition/${name}`, ...value }],
})
const text = (name: string): object => ({ name, valueString: 'x' })
const parameters = (...parameter: readonly object[]): object => ({ resourceType: 'Parameters', parameter })

describe('$cql', () => {
  it('evaluates an expression', async () => {
    const { status, json } = await call('POST', '$cql', parameters({ name: 'expression', valueString: "1 'g' + 2 'g'" }))
    expect([status, json.parameter[0]?.valueQuantity]).toEqual([
      200,
      { value: 3, unit: 'g', system: 'http://unitsofmeasure.org', code: 'g' },
    ])
  })

  it.each([
    ['"x" + 1', [{ name: 'x', valueInteger: 5 }], { valueInteger: 6 }],
    [
      'Sum("x")',
      [
        { name: 'x', valueInteger: 5 },
        { name: 'x', valueInteger: 7 },
      ],
      { valueInteger: 12 },
    ],
    [
      "x.a & '!'",
      [
        {
          name: 'x',
          part: [
            { name: 'a', valueString: 'yes' },
            { name: 'b', valueBoolean: true },
          ],
        },
      ],
      { valueString: 'yes!' },
    ],
    ['@2020-03-01T12 during x', [{ name: 'x', valuePeriod: { start: '2020-01', end: '2020-12' } }], { valueBoolean: true }],
    [
      "x.numerator = 1 'g'",
      [{ name: 'x', valueRatio: { numerator: { value: 1, code: 'g' }, denominator: { value: 2, code: 'mL' } } }],
      { valueBoolean: true },
    ],
    ['x is null', [{ name: 'x', _valueBoolean: said('data-absent-reason', { valueCode: 'unknown' }) }], { valueBoolean: true }],
    ['Count(Flatten(x))', [1, 2].map((valueInteger) => ({ name: 'x', part: [{ name: 'element', valueInteger }] })), { valueInteger: 2 }],
  ])('takes parameters of an expression by name: %s', async (expression, given, result) => {
    const resource = parameters(...given)
    const { json } = await call(
      'POST',
      '$cql',
      parameters({ name: 'expression', valueString: expression }, { name: 'parameters', resource }),
    )
    expect(json.parameter).toMatchObject([{ name: 'return', ...result }])
  })

  it('a name of a parameter ends no declaration', async () => {
    const resource = parameters({ name: 'x" Integer\ndefine "y', valueInteger: 5 })
    const { status } = await call('POST', '$cql', parameters({ name: 'expression', valueString: '1' }, { name: 'parameters', resource }))
    expect(status).toBe(400)
  })

  it('evaluates over the record of a subject', async () => {
    const { json } = await call(
      'POST',
      '$cql',
      parameters({ name: 'expression', valueString: 'Count([Observation])' }, { name: 'subject', valueString: 'Patient/p' }),
    )
    expect(json.parameter).toEqual([{ name: 'return', valueInteger: 1 }])
  })

  it('finds by codes that an expression lists', async () => {
    const listed = "Count([Observation: { Code { system: 'http://loinc.example/s', code: 'glucose' } }])"
    const { json } = await call(
      'POST',
      '$cql',
      parameters({ name: 'expression', valueString: listed }, { name: 'subject', valueString: 'Patient/p' }),
    )
    expect(json.parameter).toEqual([{ name: 'return', valueInteger: 1 }])
  })

  it('says each message once, whatever must be read meanwhile', async () => {
    const expression = "Message(1, true, 'c', 'Warning', 'm') + Count([Observation]) + Count([Condition])"
    const { json } = await call(
      'POST',
      '$cql',
      parameters({ name: 'expression', valueString: expression }, { name: 'subject', valueString: 'Patient/p' }),
    )
    expect(json.parameter[0]).toEqual({ name: 'return', valueInteger: 2 })
    expect(json.parameter[1]?.resource?.issue.map(({ details }) => details.text)).toEqual(['c: m'])
  })

  it.each([
    ["@2020-01-01 + 1 'kg'", "The unit 'kg' is not a duration"],
    ['DateTime(2020, 1, 1, 0, 0, 0, 0, 15.0)', 'from -14 to 14 hours'],
  ])('a run-time error says what is wrong: %s', async (expression, message) => {
    const { json } = await call('POST', '$cql', parameters({ name: 'expression', valueString: expression }))
    expect(json.parameter[0]?.resource?.issue[0]?.details.text).toContain(message)
  })

  it('evaluates over data that comes with the call', async () => {
    const entry = [{ resource: { resourceType: 'Observation', id: 'x' } }, { resource: { resourceType: 'Observation', id: 'y' } }]
    const { json } = await call(
      'POST',
      '$cql',
      parameters(
        { name: 'expression', valueString: 'Count([Observation])' },
        { name: 'data', resource: { resourceType: 'Bundle', type: 'collection', entry } },
      ),
    )
    expect(json.parameter).toEqual([{ name: 'return', valueInteger: 2 }])
  })

  it.each([
    ['in place of the storage', {}, ['given-one', 'o-given']],
    ['beside the storage where that is asked for', { valueBoolean: true }, ['given-one', 'o-given', 'o1']],
    ['in place of the storage where that is asked for', { valueBoolean: false }, ['given-one', 'o-given']],
  ])('evaluates over data %s', async (_, useServerData, ids) => {
    const of = (id: string): object => ({ resource: { resourceType: 'Observation', id, subject: { reference: 'Patient/p' } } })
    const entry = [{ resource: { resourceType: 'Patient', id: 'p' } }, of('given-one'), of('o-given')]
    const asked = [
      { name: 'expression', valueString: '[Observation] O return O.id.value sort asc' },
      { name: 'subject', valueString: 'Patient/p' },
      { name: 'data', resource: { resourceType: 'Bundle', type: 'collection', entry } },
      ...(Object.keys(useServerData).length > 0 ? [{ name: 'useServerData', ...useServerData }] : []),
    ]
    const { json } = await call('POST', '$cql', parameters(...asked))
    expect(json.parameter).toEqual(ids.map((valueString) => ({ name: 'return', valueString })))
  })

  it.each([
    [
      'data that is no Bundle',
      400,
      '$cql',
      [
        { name: 'expression', valueString: '[Patient]' },
        { name: 'data', resource: { resourceType: 'Patient' } },
      ],
    ],
    ['a second name of the Library', 400, 'Library/Main/$evaluate', [{ name: 'url', valueUri: 'http://x/Library/Common' }]],
    [
      'a manifest that does not exist',
      404,
      '$cql',
      [
        { name: 'expression', valueString: '1' },
        { name: 'manifest', valueCanonical: 'http://x/m' },
      ],
    ],
  ])('refuses %s', async (_, status, path, asked) => {
    const answer = await call('POST', path, parameters(...asked))
    expect([answer.status, answer.json.issue[0]?.expression]).toEqual([status, expect.arrayContaining([expect.any(String)])])
  })

  it('takes versions that are left open from the manifest', async () => {
    const part = (version: string, value: number): object => ({
      ...library('Part', `library Part version '${version}' define X: ${value}`),
      id: `part${version}`,
      version,
    })
    const relatedArtifact = [{ type: 'depends-on', resource: `${library('Part', '').url}|1` }]
    const type = { coding: [{ code: 'asset-collection' }] }
    const manifest = { resourceType: 'Library', id: 'manifest', url: 'http://x/manifest', status: 'active', type, relatedArtifact }
    for (const [id, resource] of Object.entries({ part1: part('1', 1), part2: part('2', 2), manifest }))
      expect((await call('PUT', `Library/${id}`, resource)).status).toBe(201)
    const url = library('Part', '').url
    const stated = { name: 'manifest', valueCanonical: 'http://x/manifest' }
    const included = { name: 'library', part: [{ name: 'url', valueCanonical: url }] }
    const inExpression = [{ name: 'expression', valueString: 'Part.X' }, included]
    const asked = [inExpression, [...inExpression, stated]].map(async (own) => call('POST', '$cql', parameters(...own)))
    const named = [[], [stated]].map(async (own) => call('POST', 'Library/$evaluate', parameters({ name: 'url', valueUri: url }, ...own)))
    const answers = await Promise.all([...asked, ...named])
    expect(answers.map(({ json }) => json.parameter[0])).toEqual([
      { name: 'return', valueInteger: 2 },
      { name: 'return', valueInteger: 1 },
      { name: 'X', valueInteger: 2 },
      { name: 'X', valueInteger: 1 },
    ])
  })

  it('takes a resource of data in place of the stored one, and the subject from the storage', async () => {
    const entry = [{ resource: { resourceType: 'Observation', id: 'o1', status: 'amended', subject: { reference: 'Patient/p' } } }]
    const asked = [
      { name: 'expression', valueString: "[Observation] O return O.status.value & ' ' & ToString(Patient.birthDate)" },
      { name: 'subject', valueString: 'Patient/p' },
      { name: 'data', resource: { resourceType: 'Bundle', type: 'collection', entry } },
      { name: 'useServerData', valueBoolean: true },
    ]
    const { json } = await call('POST', '$cql', parameters(...asked))
    expect(json.parameter).toEqual([{ name: 'return', valueString: 'amended 1980-01-01' }])
  })

  it('needs a subject where the storage is evaluated over beside data', async () => {
    const asked = [
      { name: 'expression', valueString: 'Count([Observation])' },
      { name: 'data', resource: { resourceType: 'Bundle', type: 'collection', entry: [] } },
      { name: 'useServerData', valueBoolean: true },
    ]
    const { status, json } = await call('POST', '$cql', parameters(...asked))
    expect([status, json.issue[0]?.code]).toEqual([400, 'required'])
  })

  it.each([
    ['what the subject is and is named by', 'Count([Observation])', 3],
    ['what names it by an address or a version', "Count([Observation] O where O.id in {'own', 'versioned'})", 2],
    ['the subject only, of its type', 'Count([Patient])', 1],
    ['what names a patient who is not the subject, by `patient`', 'Count([AllergyIntolerance])', 0],
    ['what names nobody', 'Count([Location])', 1],
  ])('retrieves from data of several patients %s', async (_, expression, valueInteger) => {
    const about = (id: string, reference: string): object => ({ resource: { resourceType: 'Observation', id, subject: { reference } } })
    const entry = [
      { resource: { resourceType: 'Patient', id: 'p' } },
      { resource: { resourceType: 'Patient', id: 'q' } },
      about('own', 'http://x/fhir/Patient/p'),
      about('versioned', 'Patient/p/_history/2'),
      about('foreign', 'Patient/q'),
      about('foreign-address', 'http://x/fhir/Patient/q'),
      { resource: { resourceType: 'Observation', id: 'nobody' } },
      { resource: { resourceType: 'AllergyIntolerance', id: 'a', patient: { reference: 'Patient/q' } } },
      { resource: { resourceType: 'Location', id: 'l' } },
    ]
    const { json } = await call(
      'POST',
      '$cql',
      parameters(
        { name: 'expression', valueString: expression },
        { name: 'subject', valueString: 'Patient/p' },
        { name: 'data', resource: { resourceType: 'Bundle', type: 'collection', entry } },
      ),
    )
    expect(json.parameter).toEqual([{ name: 'return', valueInteger }])
  })

  it.each([
    ['no expression', [], 400, 'required'],
    ['CQL that is not CQL', [{ name: 'expression', valueString: '1 +' }], 422, 'invalid'],
    ['an expression with definitions after it', [{ name: 'expression', valueString: '1 define X: 2' }], 422, 'invalid'],
    ['an expression with functions after it', [{ name: 'expression', valueString: '1 define function f(): 2' }], 422, 'invalid'],
    ['CQL with an unknown name', [{ name: 'expression', valueString: 'foo' }], 422, 'invalid'],
    ['a retrieve without subject or data', [{ name: 'expression', valueString: 'exists [Observation]' }], 400, 'required'],
    [
      'an unknown subject',
      [
        { name: 'expression', valueString: '1' },
        { name: 'subject', valueString: 'Patient/nobody' },
      ],
      422,
      'not-found',
    ],
    [
      'a subject that is not a reference',
      [
        { name: 'expression', valueString: '1' },
        { name: 'subject', valueString: '../x' },
      ],
      400,
      'value',
    ],
    ['an input that is not offered', [{ name: 'expression', valueString: '1' }, { name: 'prefetchData' }], 400, 'not-supported'],
  ])('%s is refused', async (_, given, status, code) => {
    const answer = await call('POST', '$cql', parameters(...given))
    expect([answer.status, answer.json.issue[0]?.code]).toEqual([status, code])
  })

  it.each([
    ['by itself', [], 'line 2, column 2'],
    ['over the record of a subject', [{ name: 'subject', valueString: 'Patient/p' }], 'line 2, column 2'],
  ])('an error in an expression %s is reported at its place in the expression', async (_, others, place) => {
    const { json } = await call('POST', '$cql', parameters({ name: 'expression', valueString: '1 +\n foo' }, ...others))
    expect(json.issue[0]?.details.text).toContain(`(${place})`)
  })

  it('a translation that takes longer than the operation may is a computation that ran out of time', async () => {
    const { types, ...release } = r4()
    const ctx = createContext({ ...release, types, storage: memoryStorage(), limits: { operationTimeoutMs: 20 } })
    const translator = { translate: () => new Promise<never>(() => {}) }
    const evaluation = evaluateCql(forRequest(ctx, {}), { expression: '1' }, { translator })
    await expect(evaluation).rejects.toMatchObject({ code: 'computation-timeout' })
  })

  it('the whole result where only its values are converted is refused by name', () => {
    const result: unknown = { values: new Map(), failures: new Map(), messages: [] }
    expect(() => Reflect.apply(toParameters, undefined, [result])).toThrow('The results must be a Map of values by name')
  })

  it('data that changed since the last call is compared as it is now, and answers share nothing with it', async () => {
    const { indexer: _indexer, ...release } = r4()
    const ctx = createContext({ ...release, storage: memoryStorage() })
    const patients = ['a', 'b'].map((id) => ({ resourceType: 'Patient', id, name: [{ family: 'x' }] }))
    const library = libraryWith(
      'Names',
      "library Names\nusing FHIR version '4.0.1'\ncontext Unfiltered\ndefine Names: distinct ([Patient] P return all P.name)\ndefine Patients: [Patient]",
    )
    const answer = async (): Promise<readonly object[]> => {
      const { values } = await evaluateCql(ctx, { library, data: patients }, { translator })
      return toParameters(values).parameter ?? []
    }
    expect(await answer()).toHaveLength(1 + 2)
    for (const name of patients[0]?.name ?? []) name.family = 'y'
    const second = await answer()
    expect(second).toHaveLength(2 + 2)
    patients[1]?.name.splice(0, 1, { family: 'z' })
    expect(second).toContainEqual({ name: 'Patients', resource: { resourceType: 'Patient', id: 'b', name: [{ family: 'x' }] } })
  })

  it.each([
    ['data that is not a list', { data: {} }, 'data must be a list'],
    ['a subject that is not a text', { subject: 5 }, 'subject must be a text'],
    ['parameters that are not a Map', { parameters: {} }, 'parameters must be a Map'],
    ['definitions that are not a list', { definitions: 'Many' }, 'definitions must be a list'],
    ['a member that there is none of', { patient: 'Patient/p' }, 'patient'],
  ])('refuses %s in process', async (_, more, message) => {
    const { indexer: _indexer, ...release } = r4()
    const ctx = createContext({ ...release, storage: memoryStorage() })
    // @ts-expect-error: as a caller without types writes it
    const evaluation = evaluateCql(ctx, { expression: '1', ...more })
    await expect(evaluation).rejects.toMatchObject({ name: 'OperationError', message: expect.stringContaining(message) })
  })

  it.each([
    [
      'Patient.contact',
      [
        {
          name: 'return',
          part: [
            {
              name: 'extension',
              part: [
                { name: 'url', valueUri: 'http://x/kin' },
                { name: 'value', valueCode: 'aunt' },
              ],
            },
            { name: 'relationship', valueCodeableConcept: { text: 'kin' } },
            { name: 'relationship', valueCodeableConcept: { text: 'guardian' } },
            { name: 'gender', valueCode: 'female', _valueCode: { id: 'g' } },
          ],
        },
      ],
    ],
    ['First(Patient.contact).gender', [{ name: 'return', valueCode: 'female', _valueCode: { id: 'g' } }]],
    [
      'Patient.text',
      [
        {
          name: 'return',
          part: [
            { name: 'status', valueCode: 'empty' },
            { name: 'div', valueString: '<div/>' },
          ],
        },
      ],
    ],
    [
      'Tuple { link: Patient.link }',
      [{ name: 'return', part: [{ name: 'link', _valueBoolean: said('data-absent-reason', { valueCode: 'unknown' }) }] }],
    ],
  ])('gives elements that parameters cannot have as parts: %s', async (valueString, expected) => {
    const extension = [{ url: 'http://x/kin', valueCode: 'aunt' }]
    const relationship = [{ text: 'kin' }, { text: 'guardian' }]
    const contact = [{ extension, relationship, gender: 'female', _gender: { id: 'g' } }]
    const resource = { resourceType: 'Patient', id: 'p', text: { status: 'empty', div: '<div/>' }, contact, link: [{}] }
    const data = { name: 'data', resource: { resourceType: 'Bundle', type: 'collection', entry: [{ resource }] } }
    const asked = parameters({ name: 'expression', valueString }, { name: 'subject', valueString: 'Patient/p' }, data)
    const { json } = await call('POST', '$cql', asked)
    expect(json.parameter).toEqual(expected)
  })

  it.each([
    ['singleton from {1, 2}', 200, '(at 1:1-1:21)'],
    ["'a' &\n  First({ 'b' }) &\n  (singleton from { 'c', 'd' })", 200, '(at 3:3-3:31)'],
    ['1 + 1234567890123456789012345678901.5', 422, '(at 1:5-1:37)'],
  ])('names the place of an error within the expression: %s', async (valueString, expected, place) => {
    const given = parameters({ name: 'x', valueInteger: 1 })
    const { status, json } = await call(
      'POST',
      '$cql',
      parameters({ name: 'expression', valueString }, { name: 'parameters', resource: given }),
    )
    expect([status, JSON.stringify(json)]).toEqual([expected, expect.stringContaining(place)])
  })

  it('reports a run-time error beside the results', async () => {
    const { status, json } = await call('POST', '$cql', parameters({ name: 'expression', valueString: 'singleton from {1, 2}' }))
    expect([status, json.parameter[0]?.name, json.parameter[0]?.resource?.issue[0]?.severity]).toEqual([200, 'evaluation error', 'error'])
  })
})

describe('Library/$evaluate', () => {
  it('names libraries that include each other', async () => {
    const text = (name: string, other: string): string => `library ${name} version '1'\ninclude ${other} version '1'\ndefine X: 1`
    for (const [name, other] of [
      ['Left', 'Middle'],
      ['Middle', 'Right'],
      ['Right', 'Left'],
    ] as const)
      await call('PUT', `Library/${name.toLowerCase()}`, library(name, text(name, other)))
    const { status, json } = await call('GET', 'Library/$evaluate?url=http://x/Library/Left')
    expect([status, json.issue[0]?.details.text]).toEqual([
      422,
      "Libraries must not include each other: 'Left' includes 'Middle' includes 'Right' includes 'Left'.",
    ])
  })

  it.each(['chain', 'nesting'])('answers many definitions in time: %s', async (shape) => {
    const count = 8_000
    const int = { type: 'Literal', valueType: '{urn:hl7-org:elm-types:r1}Integer', value: '1' }
    const before = (index: number): object => ({ type: 'ExpressionRef', name: `D${index - 1}` })
    const grown = (index: number): object =>
      shape === 'chain' ? { type: 'Add', operand: [before(index), int] } : { type: 'List', element: [before(index)] }
    const def = Array.from({ length: count }, (_, index) => ({ name: `D${index}`, expression: index === 0 ? int : grown(index) }))
    const document = JSON.stringify({ library: { identifier: { id: 'L', version: '1' }, statements: { def } } })
    const resource = { ...library('L', ''), content: [{ contentType: 'application/elm+json', data: btoa(document) }] }
    const { status, json } = await call('POST', 'Library/$evaluate', parameters({ name: 'library', resource }))
    expect([status, json.parameter.length]).toEqual([200, count])
    const last = json.parameter.at(-1)
    expect(shape === 'chain' ? last : last?.resource?.issue[0]?.details.text).toEqual(
      shape === 'chain' ? { name: `D${count - 1}`, valueInteger: count } : expect.stringContaining('200000 steps'),
    )
  })

  it.each([
    ['List<Integer>', 'Count(X)', { valueInteger: 5 }, { valueInteger: 1 }],
    ['Decimal', 'ToString(X)', { valueInteger: 5 }, { valueString: '5.0' }],
    ['Long', 'ToString(X + 1L)', { valueString: '9007199254740993' }, { valueString: '9007199254740994' }],
    ['Quantity', "X = 5 '1'", { valueDecimal: 5 }, { valueBoolean: true }],
    ['Date', 'X = @2020-01-02', { valueDateTime: '2020-01-02T10:00:00Z' }, { valueBoolean: true }],
    ['DateTime', 'X = DateTime(2020, 1, 2)', { valueDate: '2020-01-02' }, { valueBoolean: true }],
    ['Interval<Date>', '@2020-06-01 in X', { valuePeriod: { start: '2020-01-01', end: '2020-12-31' } }, { valueBoolean: true }],
    ['Interval<Integer>', '3 in X', { valueRange: { low: { value: 1 }, high: { value: 5 } } }, { valueBoolean: true }],
    ['Interval<Decimal>', 'width of X = 4.0', { valueRange: { low: { value: 1 }, high: { value: 5 } } }, { valueBoolean: true }],
    ['Concept', 'Count(X.codes)', { valueCoding: { system: 'http://x/s', code: 'a' } }, { valueInteger: 1 }],
    ['Integer default 7', 'X is null', { _valueInteger: said('data-absent-reason', { valueCode: 'unknown' }) }, { valueBoolean: true }],
    ['List<Integer>', 'Count(X)', { _valueInteger: said('cqf-isEmptyList', { valueBoolean: true }) }, { valueInteger: 0 }],
    ['Tuple { a Long, b List<String> }', 'X.a + Count(X.b)', { part: [{ name: 'a', valueString: '5' }, text('b')] }, { valueString: '6' }],
    ['Tuple { a Long, b List<String> }', 'X.a is null', { part: [text('b')] }, { valueBoolean: true }],
    ['Choice<Decimal, Date>', 'X as Decimal = 5.0', { valueInteger: 5 }, { valueBoolean: true }],
    ['Choice<Integer, String>', "X as String = 'x'", { valueString: 'x' }, { valueBoolean: true }],
  ])('takes a parameter as the %s that is declared', async (type, expression, value, result) => {
    const stated = {
      name: 'library',
      resource: library('Typed', `library Typed version '1'\nparameter X ${type}\ndefine Y: ${expression}`),
    }
    const { json } = await call(
      'POST',
      'Library/$evaluate',
      parameters(stated, { name: 'parameters', resource: parameters({ name: 'X', ...value }) }),
    )
    expect(json.parameter).toMatchObject([{ name: 'Y', ...result }])
  })

  const CONCEPT = { coding: [{ system: 'http://x/s', code: 'a', userSelected: true }], text: 'A' }

  it.each([
    ['CodeableConcept', 'X.text.value', { valueCodeableConcept: CONCEPT }, { valueString: 'A' }],
    ['CodeableConcept', 'First(X.coding).userSelected.value', { valueCodeableConcept: CONCEPT }, { valueBoolean: true }],
    ['CodeableConcept', 'X ~ A', { valueCodeableConcept: CONCEPT }, { valueBoolean: true }],
    ['Coding', 'X.code.value', { valueCoding: { code: 'a' } }, { valueString: 'a' }],
    ['Quantity', "X.unit.value + ' ' + X.code.value", { valueQuantity: { value: 5, unit: 'mg', code: 'mg' } }, { valueString: 'mg mg' }],
    [
      'Quantity',
      "X = 5 'mg'",
      { valueQuantity: { value: 5, unit: 'mg', code: 'mg', system: 'http://unitsofmeasure.org' } },
      { valueBoolean: true },
    ],
    ['Period', 'X.start.value', { valuePeriod: { start: '2024-01-01' } }, { valueDateTime: '2024-01-01' }],
    ['Period', '@2024-02-01 in X', { valuePeriod: { start: '2024-01-01', end: '2024-12-31' } }, { valueBoolean: true }],
    ['string', 'X.value + X', { valueString: 'a' }, { valueString: 'aa' }],
    ['code', 'X.value', { valueCode: 'a' }, { valueString: 'a' }],
    ['boolean', 'X.value', { valueBoolean: true }, { valueBoolean: true }],
    ['integer', 'X.value + 1', { valueInteger: 5 }, { valueInteger: 6 }],
    ['decimal', 'X.value + 1.0', { valueDecimal: 5.5 }, { valueDecimal: 6.5 }],
    ['date', 'X.value', { valueDate: '2024-01-01' }, { valueDate: '2024-01-01' }],
    ['dateTime', 'year from X.value', { valueDateTime: '2024-01-01T10:00:00Z' }, { valueInteger: 2024 }],
  ])('takes a parameter as the FHIR.%s that is declared, with all its elements: %s', async (type, expression, value, result) => {
    const head = `library Typed version '1'\nusing FHIR version '4.0.1'\ninclude FHIRHelpers version '4.0.1'\ncodesystem S: 'http://x/s'`
    const text = `${head}\ncode A: 'a' from S\nparameter X FHIR.${type}\ndefine Y: ${expression}`
    const stated = { name: 'library', resource: library('Typed', text) }
    const given = { name: 'parameters', resource: parameters({ name: 'X', ...value }) }
    const { json } = await call('POST', 'Library/$evaluate', parameters(stated, given))
    expect(json).toMatchObject({ parameter: [{ name: 'Y', ...result }] })
  })

  it('takes a value of CQL that a host gives for a parameter that is declared with a type of FHIR', async () => {
    const { indexer: _, ...release } = r4()
    const text = `library Typed version '1'\nusing FHIR version '4.0.1'\nparameter X FHIR.CodeableConcept\ndefine Y: X.text.value + First(X.coding).code.value`
    const ctx = createContext({ storage: memoryStorage(), ...release })
    const code = { kind: 'code', code: 'a', system: 'http://x/s', version: null, display: null } as const
    const given = new Map([['X', { kind: 'concept', codes: [code], display: 'A' } as const]])
    const { values } = await evaluateCql(ctx, { library: library('Typed', text), parameters: given }, { translator })
    expect(values.get('Y')).toBe('Aa')
  })

  it.each([
    ['Coding', { valueString: 'a' }],
    ['CodeableConcept', { valueCoding: { code: 'a' } }],
    ['string', { valueInteger: 5 }],
    ['Patient', { valueString: 'Patient/p' }],
  ])('refuses a parameter that is no FHIR.%s', async (type, value) => {
    const text = `library Typed version '1'\nusing FHIR version '4.0.1'\nparameter X FHIR.${type}\ndefine Y: X is null`
    const stated = { name: 'library', resource: library('Typed', text) }
    const given = { name: 'parameters', resource: parameters({ name: 'X', ...value }) }
    const { status, json } = await call('POST', 'Library/$evaluate', parameters(stated, given))
    expect([status, json.issue[0]?.code]).toEqual([400, 'value'])
  })

  it.each([
    ['Integer', { valueString: 'five' }],
    ['Date', { valueString: '2020-01-02' }],
    ['List<Integer>', { valueBoolean: true }],
    ['Interval<Integer>', { valuePeriod: { start: '2020' } }],
    ['Quantity', { valueCoding: { code: 'a' } }],
    ['Boolean', { valueString: 'true' }],
    ['String', { valueInteger: 5 }],
    ['Code', { valueString: 'a' }],
    ['Ratio', { valueQuantity: { value: 1 } }],
    ['List<String>', { valueInteger: 5 }],
    ['Tuple { a Integer }', { part: [text('a')] }],
    ['Tuple { a Integer }', { part: [text('other')] }],
    ['Choice<Integer, String>', { valueBoolean: true }],
  ])('refuses a parameter that is no %s', async (type, value) => {
    const stated = { name: 'library', resource: library('Typed', `library Typed version '1'\nparameter X ${type}\ndefine Y: X`) }
    const { status, json } = await call(
      'POST',
      'Library/$evaluate',
      parameters(stated, { name: 'parameters', resource: parameters({ name: 'X', ...value }) }),
    )
    expect([status, json.issue[0]?.code, json.issue[0]?.details.text]).toEqual([
      400,
      'value',
      "The value of the parameter 'X' is not of the type that the library declares.",
    ])
  })

  it.each([
    ['Interval<Date>', { valuePeriod: { start: '2024-02-01', end: '2024-01-01' } }],
    ['Interval<Integer>', { valueRange: { low: { value: 5 }, high: { value: 3 } } }],
  ])('refuses a parameter of type %s that ends before it starts', async (type, value) => {
    const stated = { name: 'library', resource: library('Typed', `library Typed version '1'\nparameter X ${type}\ndefine Y: X`) }
    const given = { name: 'parameters', resource: parameters({ name: 'X', ...value }) }
    const { status, json } = await call('POST', 'Library/$evaluate', parameters(stated, given))
    expect([status, json.issue[0]?.details.text]).toEqual([400, "The parameter 'X' has a value that is not a value of CQL."])
  })

  it.each([{ comparator: '<' }, { value: undefined }])('refuses a quantity with %j, which is not the number', async (more) => {
    const stated = { name: 'library', resource: library('Typed', "library Typed version '1'\nparameter X Quantity\ndefine Y: X") }
    const given = { name: 'parameters', resource: parameters({ name: 'X', valueQuantity: { value: 5, ...more } }) }
    const { status, json } = await call('POST', 'Library/$evaluate', parameters(stated, given))
    expect([status, json.issue[0]?.code]).toEqual([400, 'value'])
  })

  it('names what is wrong in the text, and not that the translator failed by it', async () => {
    const { status, json } = await call('POST', '$cql', parameters({ name: 'expression', valueString: '1 +' }))
    expect([status, json.issue[0]?.details.text]).toEqual([
      422,
      'The CQL has errors: Syntax error at the end of the text (line 1, column 4).',
    ])
  })

  it.each([
    ['a syntax error', { valueString: '1 +' }],
    ['another definition', { valueString: '1\ndefine "Other": 2' }],
  ])('the place of %s is the parameter', async (_, value) => {
    const { status, json } = await call('POST', '$cql', parameters(text('x'), { name: 'expression', ...value }))
    expect([status, json.issue[0]?.expression]).toEqual([422, ['Parameters.parameter[1]']])
  })

  it('the place of a value that is not of CQL is within the Parameters in which it is', async () => {
    const given = { name: 'parameters', resource: parameters(text('x'), { name: 'y', valueAddress: { city: 'Ulm' } }) }
    const { json } = await call('POST', '$cql', parameters({ name: 'expression', valueString: '1' }, given))
    expect(json.issue[0]?.expression).toEqual(['Parameters.parameter[1].resource.parameter[1]'])
  })

  it('the place of an unknown library that an expression may use is the parameter with its url', async () => {
    const unknown = { name: 'library', part: [{ name: 'url', valueCanonical: 'http://example.org/none' }] }
    const { json } = await call('POST', '$cql', parameters({ name: 'expression', valueString: '1' }, unknown))
    expect(json.issue[0]?.expression).toEqual(['Parameters.parameter[1]'])
  })

  it('names the library of which the text is', async () => {
    const stated = { name: 'library', resource: library('Bad', "library Bad version '1'\ndefine Y: 1 +") }
    const { json } = await call('POST', 'Library/$evaluate', parameters(stated))
    expect(json.issue[0]?.expression).toEqual(['Library.content'])
    expect(json.issue[0]?.details.text).toMatch(/^The CQL of library 'Bad' has errors: Syntax error .*\(line 2, column \d+\)\.$/)
  })

  it.each([
    ["SplitOnMatches('abc', '')", 'a b c'],
    ["SplitOnMatches('1a1b1', '[0-9]')", ' a b '],
    ["SplitOnMatches('', '')", ''],
  ])('nothing that matches separates between characters only: %s', async (expression, expected) => {
    const { json } = await call('POST', '$cql', parameters({ name: 'expression', valueString: `Combine(${expression}, ' ')` }))
    expect(json).toMatchObject({ parameter: [{ name: 'return', valueString: expected }] })
  })

  const STRUCTURE = 'http://hl7.org/fhir/StructureDefinition'
  const UNKNOWN = { extension: [{ url: `${STRUCTURE}/data-absent-reason`, valueCode: 'unknown' }] }

  it.each([
    [
      '{ {}, { 1 } }',
      [
        { name: 'return', _valueBoolean: { extension: [{ url: `${STRUCTURE}/cqf-isEmptyList`, valueBoolean: true }] } },
        { name: 'return', part: [{ name: 'element', valueInteger: 1 }] },
      ],
    ],
    ['Interval[null as Integer, null]', [{ name: 'return', valueRange: UNKNOWN }]],
    ['Interval[null as DateTime, null]', [{ name: 'return', valuePeriod: UNKNOWN }]],
    ['Code { code: null }', [{ name: 'return', valueCoding: UNKNOWN }]],
  ])('says of %s that it is empty or not known', async (expression, result) => {
    const { json } = await call('POST', '$cql', parameters({ name: 'expression', valueString: expression }))
    expect(json.parameter).toMatchObject(result)
  })

  it('an expression uses several libraries, by their names or by those that the call gives them', async () => {
    for (const [name, sum] of Object.entries({ One: '1', Two: '2' }))
      await call('PUT', `Library/${name.toLowerCase()}`, library(name, `library ${name} version '1'\ndefine Sum: ${sum}`))
    const named = (name: string, ...more: readonly object[]): object => ({
      name: 'library',
      part: [{ name: 'url', valueCanonical: `http://x/Library/${name}` }, ...more],
    })
    const asked = (expression: string, ...libraries: readonly object[]): ReturnType<typeof call> =>
      call('POST', '$cql', parameters({ name: 'expression', valueString: expression }, ...libraries))
    const { json } = await asked('One.Sum + Other.Sum', named('One'), named('Two', { name: 'name', valueString: 'Other' }))
    expect(json.parameter).toEqual([{ name: 'return', valueInteger: 3 }])
    const wrong = await asked('1', named('Two', { name: 'name', valueString: 'a b' }))
    expect([wrong.status, wrong.json.issue[0]?.details.text]).toEqual([
      400,
      "A library is included by its name, and 'a b' is not a name of a library.",
    ])
  })

  it('evaluates a stored library with what it includes, its value sets and its parameters', async () => {
    const given = { name: 'parameters', resource: parameters({ name: 'Factor', valueInteger: 5 }) }
    const subject = { name: 'subject', valueString: 'Patient/p' }
    const plain = await call('POST', 'Library/main/$evaluate', parameters(subject, { name: 'expression', valueString: 'Many' }))
    expect(plain.json.parameter).toEqual([{ name: 'Many', valueInteger: 2 }])
    const byUrl = await call(
      'POST',
      'Library/$evaluate',
      parameters({ name: 'url', valueCanonical: 'http://x/Library/Main|1' }, subject, given),
    )
    expect(byUrl.json.parameter.slice(0, 2)).toEqual([
      { name: 'Many', valueInteger: 5 },
      { name: 'Private', valueInteger: 1 },
    ])
    expect(byUrl.json.parameter[2]?.name).toBe('evaluation error')
  })

  it.each([
    ['in the context Unfiltered', 'context Patient\ndefine Y: 1\ncontext Unfiltered\ndefine X: Count([Observation])', 2],
    ['in the context of another resource', 'context Patient\ndefine X: Count([Patient -> Observation])', 1],
    ['in the context of no resource', 'context Patient\ndefine Nobody: null as Patient\ndefine X: Count([Nobody -> Observation])', 0],
  ])('a retrieve %s reads what it is about', async (_, text, expected) => {
    const given = parameters(
      {
        name: 'library',
        resource: library('Given', `library U\nusing FHIR version '4.0.1'\ninclude FHIRHelpers version '4.0.1'\n${text}`),
      },
      { name: 'subject', valueString: 'Patient/p' },
      { name: 'expression', valueString: 'X' },
    )
    const { json } = await call('POST', 'Library/$evaluate', given)
    expect(json.parameter).toEqual([{ name: 'X', valueInteger: expected }])
  })

  it.each([
    ['an unknown library', 'Library/nope/$evaluate', [], 404],
    ['an unknown url', 'Library/$evaluate', [{ name: 'url', valueCanonical: 'http://x/none' }], 404],
    ['an unknown definition', 'Library/main/$evaluate', [{ name: 'expression', valueString: 'Nope' }], 400],
    ['no subject', 'Library/main/$evaluate', [{ name: 'expression', valueString: 'Many' }], 400],
    [
      'an unknown parameter',
      'Library/main/$evaluate',
      [
        { name: 'subject', valueString: 'Patient/p' },
        { name: 'parameters', resource: parameters({ name: 'X', valueInteger: 1 }) },
      ],
      400,
    ],
  ])('%s is refused', async (_, path, given, status) => {
    const answer = await call('POST', path, parameters(...given))
    expect([answer.status, answer.json.resourceType]).toEqual([status, 'OperationOutcome'])
  })
})

describe('_explain', () => {
  it('is the last parameter, with a criterion for each definition and the source; absent unless asked for', async () => {
    const plain = await call('GET', 'Library/main/$evaluate?subject=Patient/p&expression=Many&expression=Broken')
    const { status, json } = await call('GET', 'Library/main/$evaluate?subject=Patient/p&expression=Many&expression=Broken&_explain=true')
    expect(status).toBe(200)
    expect(json.parameter.slice(0, -1)).toMatchObject(plain.json.parameter.map(({ name }) => ({ name })))
    expect(plain.json.parameter.map(({ name }) => name)).not.toContain('explanation')
    const explanation = json.parameter.at(-1)
    expect(explanation?.name).toBe('explanation')
    const text = JSON.stringify(explanation)
    expect(text).toContain(
      JSON.stringify(
        '"Many" is 2 because `Count(Common.Glucose) * Factor` is 2: `Count(Common.Glucose)` is 1: `[Observation: "Sugar"]` finds 1 Observation: Observation/o1.',
      ).slice(1, -1),
    )
    expect(text).toContain('Broken\\" could not be evaluated because')
    // Nothing of another patient.
    expect(text).not.toContain('Observation/o2')
  })
})
