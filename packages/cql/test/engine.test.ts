import { r4TypeModel } from '@fhir-ops/r4'
import { unitConversion } from '@fhir-ops/registries/ucum'
import { describe, expect, it } from 'vitest'
import { compileLibrary, createEvaluation, literalText, resourceElement, type CqlLibrary } from '../src/index.js'
import { translator } from './translator.fixture.js'

const model = r4TypeModel()

const HEAD = "library T version '1'\nusing FHIR version '4.0.1'\ninclude FHIRHelpers version '4.0.1'\ncontext Patient\n"
const NOW = new Date('2020-06-01T10:00:00Z')
const FACTORS = new Map([
  ['g mg', 1_000],
  ['mg g', 1 / 1_000],
  ['cm mm', 10],
  ['mm cm', 1 / 10],
  ['d a', 1 / 365.25],
])
const convert = (from: string, to: string): number | undefined => (from === to ? 1 : FACTORS.get(`${from} ${to}`))

async function compiled(text: string): Promise<CqlLibrary> {
  const { elm, problems } = await translator.translate(HEAD + text)
  expect(problems).toEqual([])
  return compileLibrary(elm, { model, convert })
}

type Definition = NonNullable<ReturnType<CqlLibrary['definition']>>

/** Gives the definition of each expression of a table. All are of one library, which is translated once, when the first is asked for. */
function definitions(cases: readonly (readonly [expression: string, ...more: unknown[]])[]): (expression: string) => Promise<Definition> {
  let library: Promise<CqlLibrary> | undefined
  const names = new Map(cases.map(([expression], index) => [expression, `X${index}`]))
  return async (expression) => {
    library ??= compiled([...names].map(([defined, name]) => `define ${name}: ${defined}`).join('\n'))
    const definition = (await library).definition(names.get(expression) ?? '')
    if (definition === undefined) throw new Error(`The table has no ${expression}.`)
    return definition
  }
}

function element(json: object): NonNullable<ReturnType<typeof resourceElement>> {
  const made = resourceElement(model, json)
  if (made === undefined) throw new Error('The type is not known.')
  return made
}

const PATIENT = element({ resourceType: 'Patient', id: 'p', birthDate: '1980-06-02', gender: 'female', _active: { id: 'only-an-id' } })
const OBSERVATIONS = [
  {
    resourceType: 'Observation',
    id: 'a',
    code: { coding: [{ system: 'http://s', code: 'x' }] },
    effectiveDateTime: '2020-05-01',
    valueQuantity: { value: 120.5, code: 'mg' },
  },
  {
    resourceType: 'Observation',
    id: 'b',
    code: { text: 'y' },
    effectivePeriod: { start: '2020-05-01' },
    valueQuantity: { value: 1, code: 'g' },
  },
  { resourceType: 'Observation', id: 'c', code: { text: 'y' }, valueString: 'high' },
].map(element)

describe('definitions over resources', () => {
  const cases: readonly (readonly [string, string | null])[] = [
    ['AgeInYearsAt(@2020-06-01)', '39'],
    ['AgeInYears()', '39'],
    ["Patient.gender = 'female'", 'true'],
    ['Patient.active', null],
    ['Patient.birthDate.value', '@1980-06-02'],
    ['Patient.name', '{}'],
    ["[Observation] O where O.value > 100 'mg' return O.id.value", "{ 'a', 'b' }"],
    ["[Observation] O return all O.code ~ Code { code: 'x', system: 'http://s' }", '{ true, false, false }'],
    ['[Observation] O return all O.value is FHIR.Quantity', '{ true, true, false }'],
    ['[Observation] O return O.value as FHIR.string', null],
    ['Count([Observation])', '3'],
    ['exists ([Observation] O with [Observation] P such that P.id != O.id)', 'true'],
    ['First([Observation] O return O.id.value)', "'a'"],
    ['Last([Observation] O sort by id.value).id.value', "'c'"],
    ['([Observation] O return all O.id) I sort desc', '{ id "c", id "b", id "a" }'],
    ['Last([Observation] O where O.value is FHIR.Quantity sort by (value as FHIR.Quantity)).id.value', "'b'"],
    [
      'from [Observation] A, [Observation] B where (A.effective as FHIR.dateTime) 1 year or less on or before start of (B.effective as FHIR.Period) return A.id.value',
      "{ 'a' }",
    ],
    ["(First([Observation] O where O.id.value = 'b').code).children()", '{ string "y" }'],
    ["(First([Observation] O where O.id.value = 'b').code).descendants()", `{ string "y", 'y' }`],
    ['[Observation] O let v: O.value as FHIR.Quantity where v is not null return v.code.value', "{ 'mg', 'g' }"],
  ]
  const defined = definitions(cases)
  it.each(cases)('%s', async (expression, expected) => {
    const evaluation = createEvaluation({
      subject: PATIENT,
      now: NOW,
      retrieve: ({ type }) => (type === 'Observation' ? OBSERVATIONS : []),
    })
    const value = literalText((await defined(expression)).compute(evaluation))
    if (expected === null) expect(value).toMatch(/null|boolean|string/)
    else expect(value).toBe(expected)
  })

  it.each([
    ['Quantity', { valueQuantity: { value: 120.5, code: 'mg' } }, "120.5 'mg'"],
    ['Quantity with a comparator', { valueQuantity: { value: 120.5, code: 'mg', comparator: '<' } }, 'null'],
    [
      'CodeableConcept',
      { valueCodeableConcept: { coding: [{ code: 'x' }], text: 'X' } },
      "Concept { codes: { Code { code: 'x' } }, display: 'X' }",
    ],
    ['string', { valueString: 'high' }, "'high'"],
    ['boolean', { valueBoolean: false }, 'false'],
    ['dateTime', { valueDateTime: '2020-05' }, '@2020-05T'],
    ['Range', { valueRange: { low: { value: 1 }, high: { value: 2 } } }, "Interval[1.0 '1', 2.0 '1']"],
    ['Ratio', { valueRatio: { numerator: { value: 1 }, denominator: { value: 2 } } }, "1.0 '1':2.0 '1'"],
    ['Period', { valuePeriod: { start: '2020-05-01', end: '2020-05-02' } }, 'Interval[@2020-05-01T, @2020-05-02T]'],
    ['nothing', {}, 'null'],
  ])('ToValue of FHIRHelpers converts an element of any type: %s', (_, more, expected) => {
    const value = { type: 'Property', path: 'value', source: { type: 'ExpressionRef', name: 'One' } }
    const call = { type: 'FunctionRef', libraryName: 'FHIRHelpers', name: 'ToValue', operand: [value] }
    const one = { type: 'SingletonFrom', operand: { type: 'Retrieve', dataType: '{http://hl7.org/fhir}Observation' } }
    const library = {
      identifier: { id: 'L' },
      includes: { def: [{ localIdentifier: 'FHIRHelpers', path: 'FHIRHelpers', version: '4.4.000' }] },
      statements: { def: Object.entries({ One: one, X: call }).map(([name, expression]) => ({ name, expression, context: 'Patient' })) },
    }
    const retrieve = (): readonly ReturnType<typeof element>[] => [element({ resourceType: 'Observation', ...more })]
    const evaluation = createEvaluation({ subject: PATIENT, now: NOW, retrieve })
    const text = literalText(compileLibrary({ library }, { model, convert }).definition('X')?.compute(evaluation) ?? null)
    expect(text).toBe(expected)
  })

  it('does not sort what has no order', () => {
    const list = { type: 'List', element: [{ type: 'Code', system: { name: 'S' }, code: 'x' }] }
    const sort = { type: 'Sort', source: list, by: [{ type: 'ByDirection', direction: 'asc', locator: '3:4-3:9' }] }
    const library = {
      identifier: { id: 'L' },
      codeSystems: { def: [{ name: 'S', id: 'http://s' }] },
      statements: { def: [{ name: 'X', expression: sort }] },
    }
    const x = compileLibrary({ library }, { model, convert }).definition('X')
    expect(() => x?.compute(createEvaluation({ now: NOW }))).toThrow('These values have no order to be sorted by (at 3:4-3:9).')
  })

  it('evaluates a definition once for a subject', async () => {
    const library = await compiled('define A: Count([Observation])\ndefine B: A + A + A')
    let retrieved = 0
    const evaluation = createEvaluation({
      subject: PATIENT,
      now: NOW,
      retrieve: () => {
        retrieved++
        return OBSERVATIONS
      },
    })
    expect(library.definition('B')?.compute(evaluation)).toBe(9)
    expect(retrieved).toBe(1)
  })
})

describe('expressions without data', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['CalculateAgeInYearsAt(@2000, @2018-06-01)', 'Interval[17, 18]'],
    ['CalculateAgeInYearsAt(@2000-05, @2018-06-01)', '18'],
    ['CalculateAgeInYearsAt(@2000-06-01, @2018)', 'Interval[17, 18]'],
    ['CalculateAgeInYearsAt(@2000, @2018)', '18'],
    ['CalculateAgeInYearsAt(DateTime(2000), @2018-06-01T10:00:00.0)', 'Interval[17, 18]'],
    ['CalculateAgeInYearsAt(@2000-06-01, @2018-06-01)', '18'],
    ['CalculateAgeInYears(@2000) ', 'Interval[19, 20]'],
    ['CalculateAgeInMonthsAt(@2000-05, @2000-07-10)', 'Interval[1, 2]'],
    ['CalculateAgeInMonthsAt(@2000, @2000-12-31)', 'Interval[0, 11]'],
    ['CalculateAgeInWeeksAt(@2000-05, @2000-06-01)', 'Interval[0, 4]'],
    ['CalculateAgeInDaysAt(@2000-05, @2000-06-01)', 'Interval[1, 31]'],
    ['CalculateAgeInYearsAt(@2000, @2018-06-01) >= 18', 'null'],
    ['CalculateAgeInYearsAt(@2000, @2018-06-01) >= 17', 'true'],
    ['CalculateAgeInYearsAt(@2000, @2018-06-01) > 18', 'false'],
    ['CalculateAgeInYearsAt(@2000, @2018-06-01) = 18', 'null'],
    ['CalculateAgeInYearsAt(@2000, @2018-06-01) = 19', 'false'],
    ['CalculateAgeInYearsAt(@2000, @2018-06-01) in Interval[18, 65]', 'null'],
    ['CalculateAgeInYearsAt(@2000, @2018-06-01) in Interval[17, 65]', 'true'],
    ['CalculateAgeInYearsAt(@2000, @2018-06-01) in Interval[19, 65]', 'false'],
    ['CalculateAgeInYearsAt(@2000, @2018-06-01) between 18 and 65', 'null'],
    ['CalculateAgeInYearsAt(@2000, @2018-06-01) between 10 and 65', 'true'],
    ['CalculateAgeInYearsAt(@2000, @2018-06-01) + 1 > 18', 'null'],
    ['years between @2000 and @2018-06-01', 'Interval[17, 18]'],
    ['years between DateTime(2000) and DateTime(2018)', '18'],
    ['months between @2000-05 and @2001-05', '12'],
    ['years between @2000-05 and @2018-05', '18'],
    ['months between DateTime(2000) and DateTime(2001)', 'Interval[0, 23]'],
    ['weeks between @2000-05 and @2000-06', 'Interval[0, 8]'],
    ['difference in years between @2000 and @2018-06-01', '18'],
    ['Take({1, 2, 3}, -1)', '{}'],
    ['Skip({1, 2, 3}, -1)', '{}'],
    ['flatten {{1}, null as List<Integer>}', '{ 1, null }'],
    ['(null as List<Integer>) union (null as List<Integer>)', '{}'],
    ['(null as Interval<Integer>) union (null as Interval<Integer>)', 'null'],
    ['(null as Interval<Integer>) contains 1', 'false'],
    ['(null as Interval<Integer>) properly includes 1', 'false'],
    ['1 in (null as Interval<Integer>)', 'false'],
    ['(null as Integer) in Interval[1, 2]', 'null'],
    ["2.5 'g' * 3 hours", "7.5 'g.h'"],
    ["1 '1' / 2 years", "0.5 '/a'"],
    ["1 'm99999999' * 1 'm99999999'", "1.0 'm199999998'"],
    ["1 '{a/b.c}' * 2 'm'", "2.0 '{a/b.c}.m'"],
    ["3 'kg/(m.s2)' * 2 's'", "6.0 '(kg/(m.s2)).s'"],
    ["6 'g' / 2 '[car_Au].m'", "3.0 'g/[car_Au]/m'"],
    ['Round(1234.5, -2)', '1200.0'],
    ["Product({ 2 'g', 3 'm', 2 'm' })", "12.0 'g.m2'"],
    ['Round(1234.5, -2000000000)', '0.0'],
    ["Concept { codes: { Code { code: 'a' }, Code { code: 'b' } } } ~ Concept { codes: { Code { code: 'b' } } }", 'true'],
    ["2 hours * 3 '1'", '6.0 hours'],
    ['ToString(3 hours)', "'3 \\'hours\\''"],
    ["ToString(125 'cm')", "'125 \\'cm\\''"],
    ["ToString(12.5 'cm')", "'12.5 \\'cm\\''"],
    ["ToString(1 'mg':2.5 'mL')", "'1 \\'mg\\':2.5 \\'mL\\''"],
    ['ToString(1.0)', "'1.0'"],
    ["ToChars('aüb')", "{ 'a', 'ü', 'b' }"],
    ["ToChars('')", '{}'],
    ['ToChars(null as String)', 'null'],
    ["(if true then Tuple { a: 1 } else Tuple { b: 'x' }) is Tuple { a Integer }", 'true'],
    ["(if true then Tuple { a: 1 } else Tuple { b: 'x' }) is Tuple { b String }", 'false'],
    ['(Tuple { a: null as Integer }) is Tuple { a Integer }', 'true'],
    ["ToQuantity(1.0 'mg':2.0 'mg')", "0.5 '1'"],
    ["ToQuantity(5 'mg':2 'mL')", "2.5 'mg/mL'"],
    ["ToQuantity(5 'mg':0 'mL')", 'null'],
    ["Combine({ 'a', 'b' }, null)", 'null'],
    ["Combine({ 'a', null, 'b' })", "'ab'"],
    ['({ 1, 3, 2 }) L sort by $this desc', '{ 3, 2, 1 }'],
    ['({ 1, 3, 2 }) L sort by $this', '{ 1, 2, 3 }'],
    ["({ 'ccc', 'a', 'bb' }) L sort by Length($this)", "{ 'a', 'bb', 'ccc' }"],
    ['({ 1, 3, 2 }) L sort by (0 - $this)', '{ 3, 2, 1 }'],
    ['({ Interval[3, 4], Interval[1, 2] }) L sort by start of $this', '{ Interval[1, 2], Interval[3, 4] }'],
    ['DateTime(2014) + 364 days', '@2014T'],
    ['DateTime(2014) + 365 days', '@2015T'],
    ['DateTime(2014) + 729 days', '@2015T'],
    ['DateTime(2014) - 364 days', '@2014T'],
    ['Date(2014) + 8760 hours', '@2015'],
    ['Date(2014) + 53 weeks', '@2015'],
    ['DateTime(2014, 1) + 29 days', '@2014-01T'],
    ['DateTime(2014, 1) + 30 days', '@2014-02T'],
    ["expand { Interval[1 'g', 2 'g'] } per 500 'mg'", "{ Interval[1.0 'g', 1.4 'g'], Interval[1.5 'g', 1.9 'g'] }"],
    ["expand Interval[1 'g', 3 'g'] per 1000 'mg'", "{ 1.0 'g', 2.0 'g', 3.0 'g' }"],
    ["expand Interval[1 'g', 3 'g'] per 1 'cm'", '{}'],
    ['expand Interval[1, null]', '{}'],
    ['expand Interval[1, 3] per 1 day', '{}'],
    ['collapse { Interval[1, 2], Interval[4, 5] } per 2 days', '{ Interval[1, 2], Interval[4, 5] }'],
    ['Interval[1, null) contains 1', 'true'],
    ['5 in Interval(null, 5]', 'true'],
    ['5 in Interval(null, 5)', 'false'],
    ['3 in Interval(null, 5)', 'null'],
    ['@2014-01-01 in month of Interval[@2014-01-20, null)', 'true'],
    ['Interval[1, 3] meets Interval[5, null)', 'false'],
    ['Interval[5, null) meets Interval[1, 3]', 'false'],
    ['Interval(null, 5] meets Interval[7, null)', 'false'],
    ['Interval(null, 5] meets before Interval(null, 5]', 'false'],
    ['Interval[5, null) meets Interval[6, 8]', 'null'],
    ['Interval[@2014-01-01T00, @2014-01-15T10] meets before day of Interval[@2014-01-16T23, @2014-03-01T00]', 'true'],
    ['Interval[@2014-01-16T23, @2014-03-01T00] meets after day of Interval[@2014-01-01T00, @2014-01-15T10]', 'true'],
    ['Interval[@2014-01-01, @2014-01-31] meets before month of Interval[@2014-02-15, @2014-03-01]', 'true'],
    ['Interval[@2014-01-01, @2014-01-15] meets before month of Interval[@2014-01-16, @2014-03-01]', 'false'],
    ['Interval[@T10:00, @T11:30] meets before hour of Interval[@T12:59, @T13:00]', 'true'],
    ['Interval[@2014-01, @2014-12] meets before day of Interval[@2015-01, @2016-01]', 'null'],
    ['({ @2014-05, @2014-01-01, @2014, @2013 }) D sort asc', '{ @2013, @2014, @2014-01-01, @2014-05 }'],
    ['({ @2014, @2014-01-01T, @2014-05 }) D sort desc', '{ @2014-05T, @2014-01-01T, @2014T }'],
    ['expand { Interval[1, null], Interval[3, 4] }', '{ Interval[3, 3], Interval[4, 4] }'],
    ["{ 's' } properly included in null", 'null'],
    ["{ 's' } included in null", 'null'],
    ["null properly includes { 's' }", 'null'],
    // "Strictly larger" counts elements, also those that are repeated.
    ['{ 1, 2, 2 } properly includes { 1, 2 }', 'true'],
    ['{ 1, 1, 1, 1 } properly included in { 1, 2, 3 }', 'false'],
    ['5 included in (null as Interval<Integer>)', 'false'],
    ['{ 1 } in (null as List<List<Integer>>)', 'false'],
    ['expand Interval[1, 10] per 1.5', '{ 1.0, 2.5, 4.0, 5.5, 7.0, 8.5 }'],
    ['expand { Interval[9L, 9L] } per 0.5', '{ Interval[9.0, 9.4], Interval[9.5, 9.9] }'],
    ['expand Interval[1, 2) per 0.25', '{ 1.00, 1.25, 1.50, 1.75 }'],
    ['expand Interval(1.0, 1.3)', '{ 1.0, 1.1, 1.2 }'],
    ['expand { Interval(1.0, 1.2] }', '{ Interval[1.0, 1.0], Interval[1.1, 1.1], Interval[1.2, 1.2] }'],
    ["expand Interval(1.1 'g', 1.4 'g')", "{ 1.1 'g', 1.2 'g', 1.3 'g' }"],
    [
      'expand { Interval[@T08, @T09], Interval[@T14:30, @T15:30] }',
      '{ Interval[@T08, @T08], Interval[@T09, @T09], Interval[@T14, @T14], Interval[@T15, @T15] }',
    ],
    ['days between @2014-01-01T23:00:00.000-05:00 and @2014-01-02T23:00:00.000+00:00', '0'],
    ['hours between @2014-01-01T23:00:00.000-05:00 and @2014-01-02T23:00:00.000+00:00', '19'],
    ["ToDecimal('0.123456789')", '0.12345679'],
    ["ToQuantity('0.123456789 \\'mg\\'')", "0.12345679 'mg'"],
    ["ReplaceMatches('abc', 'b', '\\\\\\\\')", "'a\\\\c'"],
    ["ReplaceMatches('abc', '(b)', '\\\\\\\\$1')", "'a\\\\bc'"],
    ["10 'cm' mod 3 'mm'", "1.0 'mm'"],
    ["10 'cm' mod 3 's'", 'null'],
    ["10 'cm' div 3 'mm'", "33.0 'mm'"],
    ["10.1 'cm' div -3.1 'cm'", "-3.0 'cm'"],
    ["10 'cm' div 3 's'", 'null'],
    ['Variance({ 1, 1, 2 })', '0.33333333'],
    ['PopulationVariance({ 1, 1, 2 })', '0.22222222'],
    ['Variance({ 99999999999999.0, 99999999999999.5 })', '0.125'],
    ['Variance({ 1 })', 'null'],
    ['StdDev({ 1.0, 2.0, 3.0, 4.0 })', '1.29099445'],
    ['Round(GeometricMean({ 2.0, 8.0 }), 4)', '4.0000'],
    ['Round(GeometricMean({ -2.0, -8.0 }), 4)', '4.0000'],
    ['Round(GeometricMean({ -2.0, 4.0, 8.0 }), 4)', '-4.0000'],
    ['GeometricMean({ -1.0, 4.0 })', 'null'],
    ['GeometricMean({ -1.0, 0.0 })', '0.0'],
    ['Power(3.0, 40.0)', '12157665459056928801.0'],
    ['Power(2.0, 64.0)', '18446744073709551616.0'],
    ['Power(1.5, -2.0)', '0.44444444'],
    ['Power(10.0, 20.0)', 'null'],
    ['Power(0.0, -1.0)', 'null'],
    ['Power(1.0, 99999999999999999999.0)', '1.0'],
    ['Power(-1.0, 3.0)', '-1.0'],
    ['(Tuple { a: 1, b: { 2, 3 }, c: null }).children()', '{ 1, 2, 3 }'],
    ['(Tuple { a: 1, b: Tuple { c: 2 } }).descendents()', '{ 1, Tuple { c: 2 }, 2 }'],
    ['(Tuple { a: 1, b: Tuple { c: 2 } }).descendants()', '{ 1, Tuple { c: 2 }, 2 }'],
    ['(null).descendents()', 'null'],
    ['({ Tuple { a: 1 }, Tuple { a: 2 } }).children()', '{ 1, 2 }'],
    ["(3 'mg').children()", "{ 3.0, 'mg' }"],
    ['(5).children()', '{}'],
    ['({ 1, 2 }).repeat({ 3 })', '{ 3 }'],
    ['({ 1, 2 }).repeat(if $this < 4 then $this + 1 else 4)', '{ 2, 3, 4 }'],
    ['(null as List<Integer>).repeat($this)', 'null'],
    ["ToDate('2014-12-28T10:30:00.000')", 'null'],
    [
      'collapse { Interval(@2012-02-29, @2014-02], Interval(null, @2012-02-29) }',
      '{ Interval(null, @2012-02-29), Interval(@2012-02-29, @2014-02] }',
    ],
    ['@T10:30:15.5', '@T10:30:15.500'],
    ['@2014-01-01T10:30:15.05Z', '@2014-01-01T10:30:15.050+00:00'],
    ["Tuple { a: '\u{1F600}', b: @T10:30:15.123456 }", "Tuple { a: '\u{1F600}', b: @T10:30:15.123 }"],
    ['{ Time(10, 30, 15, 5), @T10:30:15.5 }', '{ @T10:30:15.005, @T10:30:15.500 }'],
    ["Matches('ABC', '(?i)abc')", 'true'],
    ["Matches('a\\nb', 'a.b')", 'true'],
    ["ReplaceMatches('a\\nb', '.', 'x')", "'xxx'"],
    ["ReplaceMatches('Abc abc', '(?i)ABC', 'x')", "'x x'"],
    ["1 'a' ~ 365 days", 'false'],
    ['1 year ~ 365 days', 'true'],
    ['HighBoundary(3.14159, 1)', '3.1'],
    ['LowBoundary(-0.5, 0)', '0.0'],
    [
      'collapse { Interval[@2012-01-01, @2012-01-05], Interval[@2012-01-07, @2012-01-10] } per day',
      '{ Interval[@2012-01-01, @2012-01-05], Interval[@2012-01-07, @2012-01-10] }',
    ],
    [
      'collapse { Interval[@2012-01-01, @2012-01-05], Interval[@2012-01-07, @2012-01-10] } per 2 days',
      '{ Interval[@2012-01-01, @2012-01-10] }',
    ],
  ]
  const defined = definitions(cases)
  it.each(cases)('%s', async (expression, expected) => {
    expect(literalText((await defined(expression)).compute(createEvaluation({ now: NOW })))).toBe(expected)
  })
})

describe('calls of one of several functions, in ELM without signatures', () => {
  const FUNCTIONS = `define function Kind(value System.Any): 'anything'
define function Kind(value Integer): 'number'
define function Kind(value FHIR.Resource): 'resource'
define function Kind(value FHIR.Patient): 'patient'
define function Kind(value List<FHIR.HumanName>): 'names'
define function Two(value String): 'text'
define function Two(value Integer): 'number'
define function Same(value String): value
define function Same(value Integer): value
define function Some(value System.Any): 'anything'
define function Some(value Integer): 'number'
define function Both(value System.Any, other String): 'text'
define function Both(value Integer, other String): 'number'
define Nothing: null as String
`
  const OF_TYPES: readonly string[] = ['signature', 'resultTypeName', 'resultTypeSpecifier', 'localId', 'annotation', 'locator']
  const without = (members: readonly string[], elm: unknown): unknown =>
    JSON.parse(JSON.stringify(elm), (name: string, value: unknown) => (members.includes(name) ? undefined : value))
  const computed = async (expression: string, members: readonly string[]): Promise<string> => {
    const { elm, problems } = await translator.translate(`${HEAD}${FUNCTIONS}define X: ${expression}`)
    expect(problems).toEqual([])
    const library = compileLibrary(without(members, elm), { model, convert })
    const evaluation = createEvaluation({ subject: PATIENT, now: NOW, retrieve: () => [] })
    return literalText(library.definition('X')?.compute(evaluation) ?? null)
  }

  it.each([
    ['Kind(1)', "'number'"],
    ["Kind('a')", "'anything'"],
    ['Kind(Patient)', "'patient'"],
    ['Kind({ First(Patient.name) })', "'names'"],
    ['Two(1)', "'number'"],
    ["Two('a')", "'text'"],
    ['Two(null as Integer)', "'number'"],
    ['Two(null as String)', "'text'"],
  ])('%s is that of the narrowest type', async (expression, expected) => {
    expect(await computed(expression, ['signature'])).toBe(expected)
    expect(await computed(expression, OF_TYPES)).toBe(expected)
  })

  it('may be called by another with its name', async () => {
    const text = `${HEAD}define function Shown(value Integer): Shown(ToString(value))
define function Shown(value String): value + '!'
define X: Shown(3)`
    const library = compileLibrary((await translator.translate(text)).elm, { model, convert })
    expect(literalText(library.definition('X')?.compute(createEvaluation({ now: NOW })) ?? null)).toBe("'3!'")
  })

  it('is known by the types of its operands if the ELM states these', async () => {
    expect(await computed('Two(Nothing)', ['signature'])).toBe("'text'")
  })

  it.each(['Two(Nothing)', 'Some(Nothing)'])('%s is refused, because null does not tell which one it is', async (expression) => {
    await expect(computed(expression, OF_TYPES)).rejects.toThrow(`Several functions '${expression.slice(0, -9)}' fit these values`)
  })

  it('is null if every one that it may be gives null', async () => {
    expect(await computed('Same(Nothing)', OF_TYPES)).toBe('null')
  })

  it('is one for types that the model does not know, such as profiles of QI-Core, if nothing else fits and all give the same', async () => {
    const profiled = async (one: string, other: string): Promise<string> => {
      const { elm, problems } = await translator.translate(`${HEAD}define function Of(value FHIR.Device): ${one}
define function Of(value FHIR.Flag): ${other}
define function Of(value Integer): 'number'
define X: Of(1)`)
      expect(problems).toEqual([])
      const text = JSON.stringify(without(OF_TYPES, elm))
        .replaceAll(/\{http:\/\/hl7\.org\/fhir\}(Device|Flag)/g, '{http://hl7.org/fhir}Profiled$1')
        .replaceAll(/"operand":\[[^\]]*"Literal"[^\]]*\]/g, '"operand":[{"type":"ExpressionRef","name":"Patient"}]')
      const library = compileLibrary(JSON.parse(text), { model, convert })
      const evaluation = createEvaluation({ subject: PATIENT, now: NOW, retrieve: () => [PATIENT] })
      return literalText(library.definition('X')?.compute(evaluation) ?? null)
    }
    expect(await profiled("'same'", "'same'")).toBe("'same'")
    await expect(profiled("'one'", "'other'")).rejects.toThrow("Several functions 'Of' fit these values")
  })

  it('may have null for operands that are of the same types', async () => {
    expect(await computed('Both(1, Nothing)', OF_TYPES)).toBe("'number'")
  })
})

it('a union has as many operands as one likes, and is made from left to right', () => {
  const list = (...texts: readonly string[]): object => ({
    type: 'List',
    element: texts.map((value) => ({ type: 'Literal', valueType: '{urn:hl7-org:elm-types:r1}String', value })),
  })
  const valueOf = (type: string, ...operand: readonly object[]): string => {
    const library = compileLibrary(
      { library: { identifier: { id: 'T' }, statements: { def: [{ name: 'X', expression: { type, operand } }] } } },
      { model, convert },
    )
    return literalText(library.definition('X')?.compute(createEvaluation({ now: NOW })) ?? null)
  }
  expect(valueOf('Union', list('a'), list('b'), list('a', 'c'))).toBe("{ 'a', 'b', 'c' }")
  expect(valueOf('Except', list('a', 'b', 'c'), list('b'), list('c'))).toBe("{ 'a' }")
  expect(valueOf('Intersect', list('a', 'b', 'c'), list('b', 'c'), list('c'))).toBe("{ 'c' }")
})

it('a definition that cannot be compiled hinders no other, however deep it is nested', () => {
  const deep = (depth: number): object => (depth === 0 ? { type: 'Teleport' } : { type: 'Not', operand: deep(depth - 1) })
  const def = ['A', 'B', 'C'].map((name) => ({ name, expression: name === 'C' ? { type: 'Null' } : deep(300) }))
  const library = compileLibrary({ library: { identifier: { id: 'T' }, statements: { def } } }, { model, convert })
  for (const name of ['A', 'B']) expect(() => library.definition(name)).toThrow(/Teleport/)
  expect(library.definition('C')?.compute(createEvaluation({ now: NOW }))).toBeNull()
})

describe('amounts in other units, exactly where the factor has no end or many places', () => {
  it.each([
    ["ConvertQuantity(24 'h', 'd')", "1.0 'd'"],
    ["ConvertQuantity(90 'min', 'h')", "1.5 'h'"],
    ["ConvertQuantity(36 '[in_i]', '[yd_i]')", "1.0 '[yd_i]'"],
    ["ConvertQuantity(2.54 'cm', '[in_i]')", "1.00 '[in_i]'"],
    ["ConvertQuantity(1 'd', 'wk')", "0.14285714 'wk'"],
    ["ConvertQuantity(2000000000 'ng', 'g')", "2.0 'g'"],
    ["ConvertQuantity(16 '[oz_av]', 'g')", "453.59237 'g'"],
    ["ConvertQuantity(5000 'mg', 'g')", "5.0 'g'"],
    ["Sum({ 1 'g', 2000000000 'ng' })", "3.0 'g'"],
    ["2000000000 'ng' = 2 'g'", 'true'],
    ["16 '[oz_av]' = 453.59237 'g'", 'true'],
    ["1 'd' >= 24 'h' and 24 'h' >= 1 day", 'true'],
    ["1 'mg':1 'mL' ~ 1000 'ug':1 'mL'", 'true'],
    ["1 'mg':1 'mL' ~ 1 'g':1 'L'", 'true'],
    ["1 'mg':1 'mL' ~ 1 'g':1 'mL'", 'false'],
    ["1 'mg':1 'mL' ~ 1 'mg':1 'g'", 'false'],
  ])('%s', async (expression, expected) => {
    const { elm } = await translator.translate(`library T define X: ${expression}`)
    const library = compileLibrary(elm, { model, convert: unitConversion() })
    expect(literalText(library.definition('X')?.compute(createEvaluation({ now: NOW })) ?? null)).toBe(expected)
  })
})

describe('temperatures, whose scales begin at different zeros', () => {
  const cases: readonly (readonly [string, string])[] = [
    ["38 'Cel' > 100 '[degF]'", 'true'],
    ["37.0 'Cel' = 98.6 '[degF]'", 'true'],
    ["37.1 'Cel' = 98.6 '[degF]'", 'false'],
    ["37.0 'Cel' ~ 98.6 '[degF]'", 'true'],
    ["0 'Cel' = 273.15 'K'", 'true'],
    ["0 'K' = 0 '[degR]'", 'true'],
    ["80 '[degRe]' = 100 'Cel'", 'true'],
    ["-40 'Cel' = -40 '[degF]'", 'true'],
    ["37 'Cel' in Interval[97 '[degF]', 99 '[degF]']", 'true'],
    ["Max({37 'Cel', 100 '[degF]'})", "100.0 '[degF]'"],
    ["convert 98.6 '[degF]' to 'Cel'", "37.0 'Cel'"],
    ["ConvertQuantity(-40 'Cel', '[degF]')", "-40.0 '[degF]'"],
    ["ConvertQuantity(100 '[degF]', 'Cel')", "37.77777778 'Cel'"],
    ["CanConvertQuantity(37 'Cel', 'K')", 'true'],
    ["CanConvertQuantity(37 'Cel', 'kg')", 'false'],
    ["37 'Cel' > 1 'kg'", 'null'],
    ["1 'Cel' + 1 'K'", 'null'],
    ["1 'Cel' + 1 'Cel'", "2.0 'Cel'"],
  ]
  const defined = definitions(cases)
  it.each(cases)('%s is %s', async (expression, expected) => {
    expect(literalText((await defined(expression)).compute(createEvaluation({ now: NOW })))).toBe(expected)
  })
})

describe('what is refused', () => {
  const elm = (expression: object, statements: readonly object[] = []): object => ({
    library: { identifier: { id: 'T' }, statements: { def: [{ name: 'X', context: 'Unfiltered', expression }, ...statements] } },
  })
  const value = (document: unknown): unknown =>
    compileLibrary(document, { model, convert })
      .definition('X')
      ?.compute(createEvaluation({ now: NOW, maxSteps: 1000 }))
  const integer = (text: string): object => ({ type: 'Literal', valueType: '{urn:hl7-org:elm-types:r1}Integer', value: text })
  const many = (count: number, node: object): readonly object[] => Array.from({ length: count }, () => node)
  const expand = (high: number): object => ({
    type: 'Expand',
    operand: [{ type: 'Interval', low: integer('1'), high: integer(String(high)) }],
  })
  const listTypes = (depth: number): object =>
    depth === 0
      ? { type: 'NamedTypeSpecifier', name: '{urn:hl7-org:elm-types:r1}Any' }
      : { type: 'ListTypeSpecifier', elementType: listTypes(depth - 1) }
  const call = { type: 'FunctionRef', name: 'F', operand: [] }
  const growing = (times: number): object => ({
    type: 'Aggregate',
    source: expand(times),
    initialValue: { type: 'List', element: [] },
    iteration: { type: 'List', element: [{ type: 'Total' }] },
  })
  const queries = (depth: number, source: object): object =>
    depth === 0
      ? source
      : {
          type: 'Query',
          source: [{ alias: 'A', expression: queries(depth - 1, source) }],
          return: { expression: { type: 'AliasRef', name: 'A' } },
        }
  const nested = (depth: number): object => (depth === 0 ? { type: 'Null' } : { type: 'Not', operand: nested(depth - 1) })

  it.each([
    ['an unknown node', elm({ type: 'Teleport' }), 'not-supported', /Teleport/],
    ['a name of Object.prototype as node', elm({ type: 'constructor' }), 'not-supported', /constructor/],
    ['a definition by itself', elm({ type: 'ExpressionRef', name: 'X' }), 'definition-invalid', /defined by itself/],
    [
      'a function by itself',
      elm(call, [{ type: 'FunctionDef', name: 'F', context: 'Unfiltered', expression: call }]),
      'definition-invalid',
      /function F\/0 in library T is defined by itself/,
    ],
    ['a missing definition', elm({ type: 'ExpressionRef', name: '__proto__' }), 'definition-invalid', /no definition '__proto__'/],
    ['too deep nesting', elm(nested(5000)), 'definition-invalid', /nested/],
    ['no library', 'x', 'definition-invalid', /identifier/],
    ['a literal that is none', elm(integer('9999999999')), 'definition-invalid', /literal of Integer/],
    [
      'surplus operands',
      elm({ type: 'Add', operand: many(5, integer('1')) }),
      'definition-invalid',
      /Add must have two operands; this one has 5/,
    ],
    [
      'surplus operands of a unary node',
      elm({ type: 'Not', operand: many(2, { type: 'Null' }) }),
      'definition-invalid',
      /one operand.* has 2/,
    ],
    [
      'an operand that is not a node',
      elm({ type: 'Add', operand: [integer('1'), integer('2'), 3] }),
      'definition-invalid',
      /not a list of nodes/,
    ],
    ['an element that is not a node', elm({ type: 'List', element: [integer('1'), null] }), 'definition-invalid', /not a list of nodes/],
    [
      'operands of ReplaceMatches',
      elm({ type: 'ReplaceMatches', operand: many(4, { type: 'Null' }) }),
      'definition-invalid',
      /three operands/,
    ],
    ['a long literal, quoted in part', elm(integer('9'.repeat(500))), 'definition-invalid', /^'9{99}…' is not a literal of Integer.$/],
    [
      'a type that is nested too deep',
      elm({ type: 'As', operand: { type: 'Null' }, asTypeSpecifier: listTypes(5000) }),
      'definition-invalid',
      /nested/,
    ],
    ['a list in a list in a list', elm({ type: 'Flatten', operand: growing(250) }), 'unprocessable', /nested 200 deep/],
    [
      'an expression that is large beside what it goes through',
      elm({ type: 'ForEach', source: expand(20), element: { type: 'Coalesce', operand: many(1000, { type: 'Null' }) } }),
      'unprocessable',
      /1000 steps/,
    ],
    ['a source that is computed twice at each level', elm(queries(60, expand(400))), 'unprocessable', /1000 steps/],
    [
      'an expansion of a thousand million points',
      elm({ type: 'Expand', operand: [{ type: 'Interval', low: integer('1'), high: integer('1000000000') }, { type: 'Null' }] }),
      'unprocessable',
      /1000 steps/,
    ],
  ])('%s', (_, document, code, message) => {
    expect(() => value(document)).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }))
  })
})

describe('dates and ranges that do not exist', () => {
  it.each([
    ['@T10:00 + 1 day', "A time of day cannot be moved by 'day'; hours, minutes, seconds and milliseconds can (at 5:11-5:25)."],
    ['@T10:00 - 2 months', "A time of day cannot be moved by 'months'; hours, minutes, seconds and milliseconds can (at 5:11-5:28)."],
    ['DateTime(2003, null, 28)', 'DateTime has a day without a month (at 5:11-5:34).'],
    ['DateTime(2003, 1, 2, null, 5)', 'DateTime has a minute without an hour (at 5:11-5:39).'],
    ['Interval[null, @0001-01-01)', 'The low bound of an interval must not be above the high bound (at 5:11-5:37).'],
    ['Interval(@T23:59:59.999, null]', 'The low bound of an interval must not be above the high bound (at 5:11-5:40).'],
    ['Date(null, 5)', 'Date has a month without a year (at 5:11-5:23).'],
  ])('%s', async (expression, message) => {
    const library = await compiled(`define X: ${expression}`)
    expect(() => library.definition('X')?.compute(createEvaluation({ now: NOW }))).toThrow(message)
  })
})

it('a text that is too deep to be translated is a problem of the text', async () => {
  for (const text of ['Patient.descendents()', `${'1 + '.repeat(2_000)}1`]) {
    const { problems } = await translator.translate(`${HEAD}define X: ${text}`)
    expect(problems).toEqual([expect.objectContaining({ severity: 'error', message: expect.stringMatching(/nested too deep/) })])
  }
})

describe('brackets that are nested too deep are refused before they are translated, which would take minutes', () => {
  const nested = (depth: number): string => `${'({['.repeat(depth)}1${']})'.repeat(depth)}`

  it('at their place', async () => {
    const { problems } = await translator.translate(`${HEAD}define X:\n  ${nested(20_000)}`)
    expect(problems).toEqual([
      {
        severity: 'error',
        type: 'syntax',
        message: 'Brackets are nested too deep to be translated: more than 500 levels.',
        line: 6,
        column: 503,
      },
    ])
  })

  it('in a library that is included', async () => {
    const included = `library Deep version '1'\ndefine X: ${nested(20_000)}`
    const { problems } = await translator.translate(
      `library T version '1'\ninclude Deep version '1'\ndefine X: 1`,
      new Map([['Deep', included]]),
    )
    expect(problems).toEqual([expect.objectContaining({ message: expect.stringMatching(/nested too deep/) })])
  })

  it.each([`'${nested(300)} \\' ${nested(300)}'`, `1 /* ' ${nested(600)} */`, `1 // " ${nested(600)}`, `'(' + ')'`])(
    'and not in texts and comments: %.20s',
    async (expression) => {
      expect((await translator.translate(`${HEAD}define X: ${expression}`)).problems).toEqual([])
    },
  )
})
