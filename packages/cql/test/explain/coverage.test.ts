import type { Coverage } from 'fhir-ops/context'
import { coverageHtml, coverageLcov, evaluateMeasure, explanationHtml, toMeasureReport } from 'fhir-ops/evaluate'
import { describe, expect, it } from 'vitest'
import { cqlLanguage, evaluateCql } from '../../src/index.js'
import { condition, contextWith, libraryOf, MEASURE, observation, patient, visit, type Resource } from './measure.fixture.js'
import { clauseTexts } from '../../src/explain/clause-text.js'
import { elmDefinitions } from '../../src/explain/elm-libraries.js'
import { translator } from '../translator.fixture.js'

const PERIOD = { measure: 'm', periodStart: '2024-01-01', periodEnd: '2024-12-31' }
const PEOPLE: readonly Resource[] = [
  ...['a', 'b', 'c'].flatMap((id) => [patient(id), visit(`v-${id}`, id, '2024-02-01'), condition(`c-${id}`, id)]),
  observation('o-a', 'a', '2024-03-01'),
  observation('o-b', 'b', '2024-03-01', { status: 'preliminary' }),
  patient('d', '2015-01-01'),
]

async function coverageOf(...resources: readonly Resource[]): Promise<Coverage> {
  const options = { languages: [cqlLanguage({ translator })] }
  const { coverage } = await evaluateMeasure(contextWith(...resources), { ...PERIOD, coverage: true }, options)
  if (coverage === undefined) throw new Error('There is no coverage.')
  return coverage
}

describe('coverage', () => {
  it('counts for how many subjects each clause was what, and names those that nobody reached', async () => {
    const { subjects, libraries } = await coverageOf(...PEOPLE)
    expect(subjects).toBe(4)
    const counted = libraries.flatMap(({ definitions }) => definitions.map(({ name, counts }) => [name, ...Object.values(counts)]))
    expect(counted).toEqual([
      ['Initial Population', 3, 1, 0, 0],
      ['Visits', 3, 0, 0, 1],
      ['Denominator', 3, 1, 0, 0],
      ['Exclusion', 0, 4, 0, 0],
      ['HbA1c in period', 1, 3, 0, 0],
      ['Latest', 1, 0, 0, 3],
      ['Numerator', 1, 3, 0, 0],
      ['Never used', 0, 0, 0, 4],
      ['Adult', 3, 1, 0, 0],
    ])
    for (const { definitions } of libraries)
      for (const { clauses } of definitions)
        for (const { counts } of clauses) expect(counts.true + counts.false + counts.null + counts.notEvaluated).toBe(4)
  })

  it('does not change the counts, whose evaluation it is', async () => {
    const options = { languages: [cqlLanguage({ translator })] }
    const ctx = contextWith(...PEOPLE)
    const [plain, covered] = [
      await evaluateMeasure(ctx, PERIOD, options),
      await evaluateMeasure(ctx, { ...PERIOD, coverage: true }, options),
    ]
    expect(covered.groups).toEqual(plain.groups)
    expect(plain.coverage).toBeUndefined()
    expect(toMeasureReport(covered).extension?.map(({ url }) => url)).toEqual(['https://fhir-ops.dev/StructureDefinition/coverage'])
  })

  it('is bounded by the clauses, however many subjects there are', async () => {
    const many = Array.from({ length: 300 }, (_, at) => [
      patient(`p${at}`),
      visit(`v${at}`, `p${at}`, '2024-02-01'),
      condition(`c${at}`, `p${at}`),
    ])
    const [few, lots] = [await coverageOf(...PEOPLE), await coverageOf(...many.flat())]
    expect(lots.subjects).toBe(300)
    const clauses = ({ libraries }: Coverage): number =>
      libraries.flatMap(({ definitions }) => definitions.flatMap((one) => one.clauses)).length
    expect(clauses(lots)).toBe(clauses(few))
  })

  it('is refused for a Measure without a library, by name', async () => {
    const criteria = { language: 'application/x-fhir-query', expression: 'Patient' }
    const measure = { ...MEASURE, library: undefined, scoring: undefined, group: [{ population: [{ criteria }] }] }
    await expect(evaluateMeasure(contextWith(measure), { ...PERIOD, coverage: true })).rejects.toMatchObject({
      code: 'parameter-unsupported',
      message: "The Measure has no library whose clauses 'coverage' could list.",
    })
  })

  it('is written as HTML and as lcov', async () => {
    const coverage = await coverageOf(...PEOPLE)
    const html = coverageHtml(coverage)
    expect(html).toContain('<span class="u" title="true 0, false 0, null 0, not evaluated 4">exists </span>')
    expect(html).not.toMatch(/<script|<link|https?:\/\/(?!x\/)/)
    const lcov = coverageLcov(coverage)
    expect(lcov).toContain('SF:Diabetes.cql\n')
    expect(lcov).toContain('FNDA:0,Never used\n')
    expect(lcov).toContain('DA:19,0\n')
    expect(lcov.match(/end_of_record/g)).toHaveLength(2)
  })
})

const MARKUP = '<img src=x onerror=alert(1)>"\'&'

describe('what is hostile', () => {
  it('has its markup escaped, in CQL, in names and in resources', async () => {
    const text = `library Odd version '1'\nusing FHIR version '4.0.1'\ninclude FHIRHelpers version '4.0.1'\ncontext Patient\ndefine "A <script>x</script>": Patient.gender = '<b>bold</b>' and "B"\ndefine "B": exists ([Observation] O where O.id = '</pre><script>alert(1)</script>')`
    const data = [{ ...patient('p'), gender: MARKUP }, observation('o', 'p', '2024-01-01')]
    const input = { library: libraryOf('Odd', text), data, subject: 'Patient/p', explain: true }
    const { explanation } = await evaluateCql(contextWith(), input, { translator })
    const html = explanationHtml(explanation ?? {}, '<h1>&')
    expect(explanation?.criteria?.find(({ name }) => name.startsWith('A'))?.reason).toContain(MARKUP)
    expect(html).toContain('&lt;script&gt;')
    expect(
      html.replaceAll(
        /<\/?(?:html|head|meta|title|style|body|h1|h2|p|pre|span|section|ul|li|!doctype)(?: [a-z-]+="[^"<>]*")*(?: html)?>/g,
        '',
      ),
    ).not.toMatch(/[<>]/)
  })

  it('is bounded in size for 100,000 resources in one retrieve, and still finds the nearest', async () => {
    const text = `library Many version '1'\nusing FHIR version '4.0.1'\ninclude FHIRHelpers version '4.0.1'\ncontext Patient\ndefine Found: exists ([Observation] O where O.status = 'final' and O.issued is not null and O.id = 'none')`
    const data = Array.from({ length: 100_000 }, (_, at) =>
      observation(
        `o${at}`,
        'p',
        '2020-03-01',
        at % 2 === 0 ? { status: 'draft' } : at === 77_777 ? { issued: '2024-03-01T10:00:00Z' } : {},
      ),
    )
    const input = { library: libraryOf('Many', text), data: [patient('p'), ...data], subject: 'Patient/p', explain: true }
    const { explanation, values } = await evaluateCql(contextWith(), input, { translator, maxSteps: 3_000_000 })
    expect(values.get('Found')).toBe(false)
    const [found] = explanation?.criteria ?? []
    expect(found?.reason).toBe(
      "\"Found\" is false because `exists ([Observation] O where O.status = 'final' and O.issued is not null and O.id = 'none')` is false: 100000 Observations of `[Observation]`, none meets `O.id = 'none'`; nearest is Observation/o77777: `O.id` is 'o77777'.",
    )
    expect(found?.evaluated[0]).toMatchObject({ total: 100_000 })
    expect(JSON.stringify(explanation).length).toBeLessThan(30_000)
  })

  it('is bounded for expressions that are nested deeply', async () => {
    const nested = `${'('.repeat(60)}Patient.active${' = true)'.repeat(60)}`
    const text = `library Deep version '1'\nusing FHIR version '4.0.1'\ninclude FHIRHelpers version '4.0.1'\ncontext Patient\ndefine Deep: ${nested}`
    const input = {
      library: libraryOf('Deep', text),
      data: [patient('p', '1960-05-01', { active: false })],
      subject: 'Patient/p',
      explain: true,
    }
    const { explanation } = await evaluateCql(contextWith(), input, { translator })
    expect(explanation?.criteria?.[0]?.reason.length).toBeLessThan(2_000)
    expect(explanationHtml(explanation ?? {}).length).toBeLessThan(100_000)
  })
})

it.each<readonly [object, string]>([
  [{ type: 'ParameterRef', name: 'Measurement Period' }, '"Measurement Period"'],
  [{ type: 'Property', scope: 'E', path: 'period' }, 'E.period'],
  [{ type: 'Property', path: 'status', source: { type: 'ExpressionRef', name: 'Visit' } }, '"Visit".status'],
  [{ type: 'Retrieve', dataType: '{http://hl7.org/fhir}Encounter' }, '[Encounter]'],
  [{ type: 'Retrieve', dataType: '{http://hl7.org/fhir}Condition', codes: { type: 'ValueSetRef', name: 'Flu' } }, '[Condition: "Flu"]'],
  [{ type: 'FunctionRef', name: 'Twice', operand: [{ type: 'Literal', value: '2' }] }, '"Twice"(2)'],
  [
    {
      type: 'Less',
      operand: [
        { type: 'Literal', value: '1' },
        { type: 'As', operand: [{ type: 'Literal', value: '2' }] },
      ],
    },
    '1 < 2',
  ],
  [{ type: 'Exists', operand: [{ type: 'Retrieve', dataType: '{http://hl7.org/fhir}Encounter' }] }, 'Exists([Encounter])'],
  [{ type: 'Query', source: [{ alias: 'E', expression: { type: 'ExpressionRef', name: 'Visits' } }] }, 'Query("Visits")'],
  [{ type: 'Now' }, 'Now'],
])('ELM without annotations is described: %j as %s', (node, expected) => {
  const elm = { library: { identifier: { id: 'L' }, statements: { def: [{ name: 'X', expression: node }] } } }
  expect(clauseTexts(elmDefinitions([{ elm, includes: new Map() }])).of({ ...node }, 'L')).toBe(expected)
})
