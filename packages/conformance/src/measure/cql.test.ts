import { cqlLanguage } from '@fhir-ops/cql'
import { createHandler, OPERATIONS } from '@fhir-ops/handler'
import { r4 } from '@fhir-ops/r4'
import { createContext } from 'fhir-ops/context'
import { evaluateMeasureOperation } from 'fhir-ops/evaluate'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { createSessions } from 'fhir-ops/sessions'
import { describe, expect, it } from 'vitest'
import { representative } from '../../../../test/effort.js'
import { comparePassing } from '../../../../test/passing.js'
import { describeSuite } from '../../../../test/suites.js'
import { measureSuite } from './measure-suite.js'

const operations = OPERATIONS.map((operation) =>
  operation.name === '$evaluate-measure' ? evaluateMeasureOperation({ languages: [cqlLanguage()] }) : operation,
)

/** The quickest first, which is the one of `npm test`. */
const SUITES = ['fqm-execution', 'cqm-ig', 'blaze', 'clinical-reasoning', 'ecqm']

describeSuite('measure-tests', 'measure-tests with published ELM', () => {
  it.each(representative(SUITES, { every: SUITES.length }))('%s passes as listed', async (suite) =>
    comparePassing(`measure-${suite}`, await measureSuite(async () => memoryStorage(), { suite, operations })),
  )
})

describe('subjects that cannot be evaluated, over HTTP', () => {
  const URL_OF_ELM = 'http://x.example/Library/Active'
  const system = (name: string): string => `{urn:hl7-org:elm-types:r1}${name}`
  /** Fails for whoever has two names. */
  const name = {
    type: 'SingletonFrom',
    operand: { type: 'Property', path: 'name', source: { type: 'ExpressionRef', name: 'Patient' } },
  }
  const elm = {
    library: {
      identifier: { id: 'Active', version: '1' },
      usings: { def: [{ localIdentifier: 'FHIR', uri: 'http://hl7.org/fhir', version: '4.0.1' }] },
      statements: {
        def: [
          {
            name: 'Patient',
            context: 'Patient',
            expression: { type: 'SingletonFrom', operand: { type: 'Retrieve', dataType: '{http://hl7.org/fhir}Patient' } },
          },
          {
            name: 'Named',
            context: 'Patient',
            expression: { type: 'Not', operand: { type: 'IsNull', operand: name }, resultTypeName: system('Boolean') },
          },
        ],
      },
    },
  }
  const { indexer, types, ...release } = r4()
  const storage = memoryStorage(
    [
      {
        resourceType: 'Library',
        id: 'active',
        url: URL_OF_ELM,
        name: 'Active',
        version: '1',
        status: 'active',
        type: { coding: [{ code: 'logic-library' }] },
        content: [{ contentType: 'application/elm+json', data: btoa(JSON.stringify(elm)) }],
      },
      {
        resourceType: 'Measure',
        id: 'm',
        status: 'active',
        library: [URL_OF_ELM],
        scoring: { coding: [{ code: 'cohort' }] },
        group: [
          {
            population: [
              { code: { coding: [{ code: 'initial-population' }] }, criteria: { language: 'text/cql-identifier', expression: 'Named' } },
            ],
          },
        ],
      },
      { resourceType: 'Patient', id: 'one', name: [{ family: 'A' }] },
      { resourceType: 'Patient', id: 'two', name: [{ family: 'A' }, { family: 'B' }] },
      { resourceType: 'Patient', id: 'none' },
    ],
    { indexer },
  )
  const handler = createHandler({
    context: createContext({ ...release, types, storage }),
    indexer,
    baseUrl: 'http://x.example',
    auth: 'off',
    defaultPolicy: 'deny',
    sessions: createSessions({ store: memorySessionStore() }),
    operations,
  })
  const URL_OF_MEASURE = 'http://x.example/fhir/R4/Measure/m/$evaluate-measure'
  const PERIOD = { periodStart: '2026-01-01', periodEnd: '2026-12-31' }
  interface Answered {
    readonly status: number
    readonly body: { readonly status?: string; readonly group?: readonly { readonly population: readonly { readonly count: number }[] }[] }
    readonly text: string
  }
  const answered = async (request: Request): Promise<Answered> => {
    const answer = await handler(request)
    const text = await answer.text()
    return { status: answer.status, body: JSON.parse(text), text }
  }
  const got = (more: Readonly<Record<string, string>>): Promise<Answered> =>
    answered(new Request(`${URL_OF_MEASURE}?${new URLSearchParams({ ...PERIOD, ...more }).toString()}`))
  const posted = (...more: readonly object[]): Promise<Answered> => {
    const dates = Object.entries(PERIOD).map(([name, valueDate]) => ({ name, valueDate }))
    const body = JSON.stringify({ resourceType: 'Parameters', parameter: [...dates, ...more] })
    return answered(new Request(URL_OF_MEASURE, { method: 'POST', headers: { 'content-type': 'application/fhir+json' }, body }))
  }

  it.each([
    ['a query', () => got({ _continue: 'true' })],
    ['Parameters', () => posted({ name: '_continue', valueBoolean: true })],
  ])('count nowhere with _continue in %s, and are named', async (_, ask) => {
    const { status, body, text } = await ask()
    expect([status, body.status, body.group?.[0]?.population[0]?.count]).toEqual([200, 'complete', 1])
    expect(text).toMatch(/1 subject could not be evaluated.*Patient\/two could not be evaluated/s)
  })

  it.each([
    ['without it', () => got({})],
    ['with false', () => got({ _continue: 'false' })],
    ['with false in Parameters', () => posted({ name: '_continue', valueBoolean: false })],
  ])('make a report of an error %s', async (_, ask) => {
    const { status, body, text } = await ask()
    expect([status, body.status, body.group]).toEqual([200, 'error', undefined])
    expect(text).toContain('Patient/two could not be evaluated')
  })

  it.each([
    ['another word', () => got({ _continue: 'maybe' })],
    ['another text in Parameters', () => posted({ name: '_continue', valueString: 'maybe' })],
    ['the name that it has in-process', () => posted({ name: 'continue', valueBoolean: true })],
  ])('are refused with %s', async (_, ask) => {
    expect((await ask()).status).toBe(400)
  })
})
