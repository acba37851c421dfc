import { r4 } from '@fhir-ops/r4'
import { createContext, type OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { dataRequirements, evaluateMeasure, evaluateMeasurePart, toMeasureReport, type EvaluateMeasureResult } from 'fhir-ops/evaluate'
import { parametersOf } from 'fhir-ops/internal/parameters'
import { memoryStorage } from 'fhir-ops/memory'
import { describe, expect, it } from 'vitest'
import { cqlLanguage, cqlOperations, evaluateCql, literalText, type ExternalFunctions, type Value } from '../src/index.js'
import { libraryWith, type LibraryJson } from './library.fixture.js'
import { translator } from './translator.fixture.js'

const { types, ...release } = r4()

const library = (text: string, name = 'Risk', include = ''): LibraryJson =>
  libraryWith(
    name,
    `library ${name} version '1'\nusing FHIR version '4.0.1'\ninclude FHIRHelpers version '4.0.1'\n${include}\ncontext Patient\n${text}`,
  )

const context = (...resources: readonly object[]): OperationContext =>
  createContext({
    ...release,
    types,
    storage: memoryStorage([{ resourceType: 'Patient', id: 'p', birthDate: '1980-01-01', gender: 'female' }, ...resources], {
      indexer: release.indexer,
    }),
  })

/** The definitions of a library, as they are written. */
async function valuesOf(text: string, functions: ExternalFunctions | undefined, ctx = context()): Promise<Record<string, string>> {
  const input = { library: library(text), subject: 'Patient/p' }
  const { values, failures } = await evaluateCql(ctx, input, { translator, functions })
  const failed = [...failures].map(([name, { message }]) => [name, message])
  return Object.fromEntries([...[...values].map(([name, value]) => [name, literalText(value)]), ...failed])
}

/** What a function is of that only JavaScript can get wrong. */
const untyped = (given: unknown): ExternalFunctions => JSON.parse('{}', () => ({ Risk: { X: () => given } }))

describe('external functions', () => {
  it('get the values of their operands, and null for what is not known', async () => {
    const got: Value[][] = []
    const Score = (age: Value, name: Value): Value => {
      got.push([age, name])
      return typeof age === 'number' ? age * 2 : null
    }
    const text = `define function Score(age Integer, name String) returns Integer: external
define A: Score(AgeInYearsAt(@2020-01-01), 'x') + 1
define B: Score(null, 'y')`
    expect(await valuesOf(text, { Risk: { Score } })).toEqual({ A: '81', B: 'null' })
    expect(got).toEqual([
      [40, 'x'],
      [null, 'y'],
    ])
  })

  it.each<[string, unknown, string]>([
    ['Boolean', true, 'true'],
    ['Integer', 7, '7'],
    ['Long', 7, '7L'],
    ['Long', 9_007_199_254_740_993n, '9007199254740993L'],
    ['Decimal', 7, '7.0'],
    ['Decimal', 0.29, '0.29'],
    ['Decimal', 5e9, '5000000000.0'],
    ['Decimal', '0.1', '0.1'],
    ['String', '2020-01-01', "'2020-01-01'"],
    ['Date', '2020-01', '@2020-01'],
    ['DateTime', '2020-01-02T03:04:05Z', '@2020-01-02T03:04:05+00:00'],
    ['Time', '10:30', '@T10:30'],
    ['System.Quantity', "5.4 'mg'", "5.4 'mg'"],
    ['System.Quantity', { kind: 'quantity', value: 5.4, unit: 'mg' }, "5.4 'mg'"],
    ['System.Ratio', '1:2', "1.0 '1':2.0 '1'"],
    ['List<Decimal>', [0.5, null, 2], '{ 0.5, null, 2.0 }'],
    ['Interval<Date>', { kind: 'interval', low: '2020', high: null, lowClosed: true, highClosed: false }, 'Interval[@2020, null)'],
    ['Tuple { a Integer, b Date }', { kind: 'tuple', elements: new Map([['b', '2020-02']]) }, 'Tuple { b: @2020-02, a: null }'],
    ['Code', { kind: 'code', code: 'x', system: 'http://s' }, "Code { code: 'x', system: 'http://s' }"],
    ['Concept', { kind: 'code', code: 'x' }, "Concept { codes: { Code { code: 'x' } } }"],
    ['Choice<Integer, String>', 'x', "'x'"],
    ['Integer', null, 'null'],
  ])('give a %s', async (type, given, expected) => {
    expect(await valuesOf(`define function X() returns ${type}: external\ndefine A: X()`, untyped(given))).toEqual({ A: expected })
  })

  it.each<[string, unknown]>([
    ['Integer', 'x'],
    ['Integer', 1.5],
    ['Integer', Number.NaN],
    ['Boolean', 1],
    ['Boolean', undefined],
    ['Date', 'soon'],
    ['Date', new Date()],
    ['System.Quantity', { kind: 'quantity', unit: 'mg' }],
    ['Decimal', { kind: 'decimal', units: 'x', places: 1 }],
    ['DateTime', { kind: 'dateTime', fields: [2020, 13], precision: 1, offset: 0 }],
    ['List<Integer>', [1, undefined]],
    ['Tuple { a Integer }', { kind: 'tuple', elements: { a: 1 } }],
    ['FHIR.Patient', { resourceType: 'Patient' }],
    ['FHIR.Observation', { kind: 'fhir', type: 'Observation', json: {} }],
    ['String', () => 'x'],
    ['Integer', { kind: '__proto__' }],
  ])('fail by name where they give no %s', async (type, given) => {
    const { A } = await valuesOf(`define function X() returns ${type}: external\ndefine A: X()`, untyped(given))
    expect(A).toMatch(
      /^The external function 'Risk\.X' gave something that is not of the type which the library declares \(at 6:1-6:\d+\)\.$/,
    )
  })

  it('fail where they give a promise', async () => {
    const text = 'define function X() returns Integer: external\ndefine A: X()'
    const { A } = await valuesOf(text, untyped(Promise.resolve(1)))
    expect(A).toBe(`The external function 'Risk.X' gave a promise: evaluations do not wait for results.`)
  })

  it('fail where they give what has no end', async () => {
    const endless: unknown[] = []
    endless.push(endless, endless)
    const { A } = await valuesOf('define function X() returns Any: external\ndefine A: X()', untyped(endless))
    expect(A).toMatch(/not of the type|more than \d+ steps/)
  })

  it('fail without the words of what they threw, unless these are meant for callers', async () => {
    const secret = new Error('password')
    const functions: ExternalFunctions = {
      Risk: {
        X: () => {
          throw secret
        },
        Y: () => {
          throw new OperationError('unprocessable', 'There is no table for this age.')
        },
      },
    }
    const text = `define function X() returns Integer: external
define function Y() returns Integer: external
define A: X()
define B: Y()
define C: 1`
    const input = { library: library(text), subject: 'Patient/p' }
    const { values, failures } = await evaluateCql(context(), input, { translator, functions })
    expect([...values]).toEqual([['C', 1]])
    expect(failures.get('A')).toMatchObject({ message: `The external function 'Risk.X' failed.`, cause: secret })
    expect(failures.get('B')?.message).toBe('There is no table for this age.')
  })

  it('are found by the library that declares them, overloads and fluent ones too', async () => {
    const functions: ExternalFunctions = {
      Tables: { Score: (...operands) => operands.length, 'short name': () => 'short' },
      Risk: { Score: () => 100 },
    }
    const tables = library(
      `define function Score(a Integer) returns Integer: external
define function Score(a Integer, b Integer) returns Integer: external
define fluent function "short name"(patient FHIR.Patient) returns String: external`,
      'Tables',
    )
    const text = `define function Score(a Integer) returns Integer: external
define A: Tables.Score(1)
define B: Tables.Score(1, 2)
define C: Score(1)
define D: Patient."short name"()`
    const including = library(text, 'Risk', `include Tables version '1'`)
    const { values } = await evaluateCql(context(tables), { library: including, subject: 'Patient/p' }, { translator, functions })
    expect(Object.fromEntries(values)).toEqual({ A: 1, B: 2, C: 100, D: 'short' })
  })

  it('get resources as they are', async () => {
    const genderOf = (patient: Value): Value =>
      typeof patient === 'object' && patient !== null && 'json' in patient ? JSON.stringify(patient.json) : ''
    const text = 'define function X(patient FHIR.Patient) returns String: external\ndefine A: X(Patient)'
    expect((await valuesOf(text, { Risk: { X: genderOf } }))['A']).toContain('"gender":"female"')
  })

  it('are looked on at as other functions', async () => {
    const text = 'define function X(a Integer) returns Integer: external\ndefine A: X(1) > 3'
    const input = { library: library(text), subject: 'Patient/p', explain: true }
    const { explanation } = await evaluateCql(context(), input, { translator, functions: { Risk: { X: () => 3 } } })
    expect(explanation?.criteria?.[0]).toMatchObject({ name: 'A', result: 'false' })
  })

  it('count as steps, with all that they give', async () => {
    const text = `define function X(a Integer) returns List<Integer>: external
define A: Count(X(1))
define B: Count(Flatten((expand { Interval[1, 1000] }) I return all X(1)))`
    const functions: ExternalFunctions = { Risk: { X: () => Array.from({ length: 1_000 }, () => 1) } }
    const { A, B } = await valuesOf(text, functions)
    expect(A).toBe('1000')
    expect(B).toBe('The evaluation of one subject took more than 200000 steps.')
  })
})

describe('external functions are refused', () => {
  it.each<[string, ExternalFunctions | undefined]>([
    ['Score', undefined],
    ['Score', {}],
    ['Score', { Other: { Score: () => 1 } }],
    ['Score', { Risk: { score: () => 1 } }],
    ['toString', { Risk: {} }],
    ['constructor', { Risk: {} }],
    ['__proto__', { Risk: {} }],
  ])('where %s is not registered', async (name, functions) => {
    const text = `define function ${name}(a Integer) returns Integer: external\ndefine A: ${name}(1)`
    await expect(valuesOf(text, functions)).rejects.toMatchObject({
      code: 'not-supported',
      message: expect.stringContaining(`The function 'Risk.${name}' is external, and no function of that name is registered`),
    })
  })

  it('where they take more operands than are declared', async () => {
    const text = 'define function Score(a Integer) returns Integer: external\ndefine A: Score(1)'
    const functions: ExternalFunctions = { Risk: { Score: (a: Value, _b: Value) => a } }
    await expect(valuesOf(text, functions)).rejects.toMatchObject({
      code: 'not-supported',
      message: expect.stringContaining(`'Risk.Score' takes 2 operands, and the library declares it with 1`),
    })
  })

  it('where they are no functions', () => {
    const wrong = { functions: { Risk: 1 } }
    const words = 'functions must be functions by library and name, such as { Risk: { Score: (age) => 1 } }.'
    expect(() => Reflect.apply(cqlLanguage, undefined, [wrong])).toThrow(`cqlLanguage: ${words}`)
    expect(() => Reflect.apply(cqlOperations, undefined, [wrong])).toThrow(`cqlOperations: ${words}`)
  })
})

const MEASURE = {
  resourceType: 'Measure',
  id: 'm',
  status: 'active',
  library: ['http://x/Library/Risk'],
  scoring: { coding: [{ code: 'cohort' }] },
  group: [
    {
      population: [
        {
          code: { coding: [{ code: 'initial-population' }] },
          criteria: { language: 'text/cql-identifier', expression: 'High' },
        },
      ],
    },
  ],
}
const HIGH = `define function Score(patient FHIR.Patient, sent DateTime) returns Decimal: external
define High: Score(Patient, DateTime(2020, 1, 1)) > 0.5`
const PERIOD = { measure: 'm', periodStart: '2020', periodEnd: '2020' }

function counted(
  functions: ExternalFunctions,
  more: { readonly keepBytes?: number } = {},
): (ctx: OperationContext) => Promise<EvaluateMeasureResult> {
  const languages = [cqlLanguage({ translator, functions, ...more })]
  return (ctx) => evaluateMeasure(ctx, PERIOD, { languages })
}

describe('external functions in a Measure', () => {
  const patients = ['a', 'b', 'c'].map((id) => ({ resourceType: 'Patient', id, gender: 'male', name: [{ family: id }] }))
  const familyOf = (patient: Value): string =>
    JSON.stringify(patient !== null && typeof patient === 'object' && 'json' in patient ? patient.json : {})

  it('are called once for each subject, and not before', async () => {
    let calls = 0
    const functions: ExternalFunctions = { Risk: { Score: () => (calls++, 0.75) } }
    const ctx = context(library(HIGH), MEASURE, ...patients)
    const languages = [cqlLanguage({ translator, functions })]
    await dataRequirements(ctx, PERIOD, { languages })
    expect(calls).toBe(0)
    const { groups } = await counted(functions)(ctx)
    expect(groups[0]?.populations[0]?.count).toBe(4)
    expect(calls).toBe(4)
  })

  it('are not called for what is the same for all subjects, but when it is asked for', async () => {
    let calls = 0
    const functions: ExternalFunctions = { Risk: { Score: () => (calls++, true) } }
    const text = `define function Score(a Integer) returns Boolean: external\ndefine High: Patient.gender = 'female' and Score(1)`
    const ctx = context(library(text), MEASURE, ...patients)
    expect((await counted(functions)(ctx)).groups[0]?.populations[0]?.count).toBe(1)
    expect(calls).toBe(1)
  })

  it('get resources as a whole, also where only what the library names is kept', async () => {
    const seen: string[] = []
    const functions: ExternalFunctions = { Risk: { Score: (patient) => (seen.push(familyOf(patient)), 1) } }
    const run = counted(functions, { keepBytes: 1_000_000 })
    const ctx = context(library(HIGH), MEASURE, ...patients)
    expect((await run(ctx)).groups[0]?.populations[0]?.count).toBe(4)
    expect((await run(ctx)).groups[0]?.populations[0]?.count).toBe(4)
    expect(seen.filter((text) => text.includes('"family":"b"'))).toHaveLength(2)
  })

  it('make a report of status error where they fail', async () => {
    const cause = new TypeError('secret')
    const functions: ExternalFunctions = {
      Risk: {
        Score: () => {
          throw cause
        },
      },
    }
    const result = await counted(functions)(context(library(HIGH), MEASURE))
    expect(result.failures).toEqual([{ subject: 'Patient/p', message: `The external function 'Risk.Score' failed.`, cause }])
    expect(result.failures?.[0]?.cause).toBe(cause)
    expect(JSON.stringify(toMeasureReport(result))).not.toContain('secret')
  })

  it('fail parts by name, which carry no causes', async () => {
    const Score = (): never => {
      throw Object.assign(new TypeError('x'), { uncloneable: () => 1 })
    }
    const languages = [cqlLanguage({ translator, functions: { Risk: { Score } } })]
    const part = await evaluateMeasurePart(context(library(HIGH), MEASURE), PERIOD, { part: 1, of: 1 }, { languages })
    expect(JSON.stringify(structuredClone(part))).toContain('Risk.Score')
  })

  it('are refused before the first subject where they are not registered', async () => {
    await expect(counted({})(context(library(HIGH), MEASURE))).rejects.toMatchObject({ code: 'not-supported' })
  })
})

describe('external functions over HTTP', () => {
  const run = async (functions: ExternalFunctions | undefined): Promise<unknown> => {
    const [, evaluate] = cqlOperations({ translator, ...(functions !== undefined && { functions }) })
    const text = 'define function X() returns Integer: external\ndefine A: X()'
    const parameters = parametersOf({
      resourceType: 'Parameters',
      parameter: [
        { name: 'library', resource: library(text) },
        { name: 'functions', valueString: '() => 1' },
        { name: 'subject', valueString: 'Patient/p' },
      ],
    })
    const answer = await evaluate?.run(context(), { parameters, type: 'Library', method: 'POST', strict: false })
    return answer?.resource
  }

  it('are those of the operation that the request is for', async () => {
    expect(await run({ Risk: { X: () => 5 } })).toMatchObject({ parameter: [{ name: 'A', valueInteger: 5 }] })
    await expect(run(undefined)).rejects.toMatchObject({ code: 'not-supported' })
  })
})
