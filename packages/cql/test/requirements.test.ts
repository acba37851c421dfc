import { r4 } from '@fhir-ops/r4'
import { createContext, type OperationContext } from 'fhir-ops/context'
import { collectData, dataRequirements, type DataRequirementsResult } from 'fhir-ops/evaluate'
import { memoryStorage } from 'fhir-ops/memory'
import { describe, expect, it } from 'vitest'
import { cqlLanguage } from '../src/index.js'
import { libraryWith, type LibraryJson } from './library.fixture.js'
import { translator } from './translator.fixture.js'

const { types, ...release } = r4()

const headed = (name: string, text: string): string =>
  `library ${name} version '1'\nusing FHIR version '4.0.1'\ninclude FHIRHelpers version '4.0.1'\n${text}`
const library = (name: string, text: string): LibraryJson => libraryWith(name, text, { type: { coding: [{ code: 'logic-library' }] } })
const COMMON_TEXT = headed(
  'Common',
  `valueset "Visits": 'http://x/ValueSet/visits'
codesystem "Codes": 'http://x/CodeSystem/codes' version '3'
code "Weight": 'weight' from "Codes" display 'Body weight'
context Patient
define function Ended(visit FHIR.Encounter): end of visit.period
define "All Visits": [Encounter: "Visits"]`,
)
const MAIN_TEXT = headed(
  'Main',
  `include Common version '1'
valueset "Chronic Codes": 'http://x/ValueSet/chronic|7'
parameter "Measurement Period" Interval<DateTime>
parameter Least Integer default 1
parameter Kinds List<String>
context Patient
define Adult: AgeInYearsAt(start of "Measurement Period") >= 18
define Visited: exists (Common."All Visits" V where V.status = 'finished' and Common.Ended(V) during "Measurement Period")
define Weighed: [Observation: Common."Weight"] O where O.effective during "Measurement Period" and (O.value as FHIR.Quantity).value > Least
define Chronic: exists ([Condition] C where C.code in "Chronic Codes")
define Parts: [Observation] O return O.component
define Recent: [Encounter] E where E.period during "Measurement Period"
define "Recent Days": [Procedure] P where P.performed during day of "Measurement Period"
define "Recent Starts": [Encounter] E where E.period starts during "Measurement Period"
define "Recent Ends": [Observation] O where end of (O.effective as FHIR.Period) during "Measurement Period"
define "Recent Months": [Condition] C where C.recordedDate during month of "Measurement Period"
define Newest: Last([Observation] O sort by start of ($this.effective as FHIR.Period), issued, subject.reference.value)
define Ids: [Observation] O return all O.id.value sort by $this desc
define Opening: Interval[@T08, @T17]
define Unused: [Procedure]`,
)
const DATES = library(
  'Dates',
  headed(
    'Dates',
    `parameter "Measurement Period" Interval<DateTime>
parameter Since Interval<DateTime> default Interval[@2018-01-01T00:00:00.0, @2018-12-31T00:00:00.0]
parameter Until DateTime default @2018-12-31T00:00:00.0
context Patient
define "Until Then": Interval[@2018-01-01T00:00:00.0, Until]
define "After Parameter": [Flag] F where F.period during Interval[end of "Until Then", null]
define Written: [Encounter] E where E.period during Interval[@2019-01-01, @2019-06-30]
define "Written Moments": [Procedure] P where P.performed during Interval[@2019-01-01T10:00:00.000+01:00, @2019-06-30T00:00:00.000Z)
define "Look Back": Interval[start of "Measurement Period" - 1 year, end of "Measurement Period"]
define Following: [EpisodeOfCare] E where E.period during "Look Back"
define "In Parameter": [Condition] C where C.onset during Since
define "Of Data": Interval[start of First([Encounter]).period, @2020-01-01T00:00:00.0]
define "In Data": [Immunization] I where I.occurrence during "Of Data"`,
  ),
)
const COMMON = library('Common', COMMON_TEXT)
const MAIN = library('Main', MAIN_TEXT)
const criteria = (expression: string, language = 'text/cql-identifier'): object => ({ criteria: { language, expression } })
const context = (...resources: readonly object[]): OperationContext =>
  createContext({ ...release, types, storage: memoryStorage([COMMON, MAIN, DATES, ...resources], { indexer: release.indexer }) })
const tell = (input: object, ...resources: readonly object[]): Promise<DataRequirementsResult> =>
  dataRequirements(context(...resources), input, { languages: [cqlLanguage({ translator })] })
const ofMeasure = (population: readonly object[], over: object = {}): Promise<DataRequirementsResult> =>
  tell(
    { measure: 'm', periodStart: '2020-01-01', periodEnd: '2020-12-31' },
    { resourceType: 'Measure', id: 'm', status: 'active', library: ['http://x/Library/Main'], group: [{ population }], ...over },
  )
const profile = (type: string): object => ({ type, profile: [`http://hl7.org/fhir/StructureDefinition/${type}`] })

describe('the data requirements of a Measure in CQL', () => {
  it('are those of what criteria name, through includes and functions', async () => {
    const { data, parameters, dependsOn } = await ofMeasure([criteria('Adult'), criteria('Visited')])
    expect(data).toEqual([
      { type: 'Patient' },
      { ...profile('Patient'), mustSupport: ['birthDate'] },
      {
        ...profile('Encounter'),
        codeFilter: [{ path: 'type', valueSet: 'http://x/ValueSet/visits' }],
        mustSupport: ['period', 'status', 'type'],
      },
    ])
    expect(parameters).toEqual([{ name: 'Measurement Period', use: 'in', min: 0, max: '1', type: 'Period' }])
    expect(dependsOn).toEqual(['http://x/Library/Main|1', 'http://x/Library/Common|1', 'http://x/ValueSet/visits'])
  })

  it('have the versions that the Measure pins', async () => {
    const relatedArtifact = [{ type: 'depends-on', resource: 'http://x/ValueSet/visits|3' }]
    const { data, dependsOn } = await ofMeasure([criteria('Visited')], { relatedArtifact })
    expect(data.flatMap(({ codeFilter = [] }) => codeFilter)).toEqual([{ path: 'type', valueSet: 'http://x/ValueSet/visits|3' }])
    expect(dependsOn).toContain('http://x/ValueSet/visits|3')
  })

  it('have codes, and the period', async () => {
    const { data, dependsOn } = await ofMeasure([criteria('Weighed'), criteria('Recent')])
    const [, weighed, recent] = data
    expect(weighed).toEqual({
      ...profile('Observation'),
      codeFilter: [{ path: 'code', code: [{ system: 'http://x/CodeSystem/codes', version: '3', code: 'weight', display: 'Body weight' }] }],
      mustSupport: ['code', 'effective', 'value'],
    })
    expect(recent?.dateFilter).toEqual([{ path: 'period', valuePeriod: { start: '2020-01-01', end: '2020-12-31' } }])
    expect(dependsOn).toContain('http://x/CodeSystem/codes|3')
  })

  it('have the period of the bound that is compared, because what starts within a period need not be within it', async () => {
    const { data } = await ofMeasure([criteria('Recent Starts'), criteria('Recent Ends')])
    const valuePeriod = { start: '2020-01-01', end: '2020-12-31' }
    expect(data.slice(1).map(({ dateFilter }) => dateFilter)).toEqual([
      [{ path: 'period.start', valuePeriod }],
      [{ path: 'effective.end', valuePeriod }],
    ])
  })

  it('let data be collected that starts in the period, and not what is before it', async () => {
    const measure = {
      resourceType: 'Measure',
      id: 'm',
      status: 'active',
      library: ['http://x/Library/Main'],
      group: [{ population: [criteria('Recent Starts')] }],
    }
    const patient = { resourceType: 'Patient', id: 'p' }
    const visits = [
      ['late', '2020-12-30', '2021-01-05'],
      ['before', '2019-12-29', '2019-12-30'],
    ].map(([id, start, end]) => ({ resourceType: 'Encounter', id, subject: { reference: 'Patient/p' }, period: { start, end } }))
    const input = { measure: 'm', periodStart: '2020-01-01', periodEnd: '2020-12-31' }
    const { resources } = await collectData(context(measure, patient, ...visits), input, { languages: [cqlLanguage({ translator })] })
    expect(resources.map(({ resource }) => resource['id'])).toEqual(['p', 'late'])
  })

  it('have the period where days are compared, as it begins and ends with days, and not where longer parts of a date are', async () => {
    const whole = [criteria('Recent Days'), criteria('Recent Months')]
    const filters = (data: DataRequirementsResult['data']): unknown => data.slice(1).map(({ type, dateFilter }) => [type, dateFilter])
    const days = { path: 'performed', valuePeriod: { start: '2020-01-01', end: '2020-12-31' } }
    expect(filters((await ofMeasure(whole)).data)).toEqual([
      ['Procedure', [days]],
      ['Condition', undefined],
    ])
  })

  it('have dates of the text, and those that follow from the period, but not what data or the defaults of other parameters determine', async () => {
    const names = ['After Parameter', 'Written', 'Written Moments', 'Following', 'In Parameter', 'In Data']
    const { data } = await ofMeasure(
      names.map((name) => criteria(name)),
      { library: ['http://x/Library/Dates'] },
    )
    expect(data.flatMap(({ type, dateFilter }) => (dateFilter === undefined ? [] : [[type, dateFilter[0]?.valuePeriod]]))).toEqual([
      ['Encounter', { start: '2019-01-01', end: '2019-06-30' }],
      ['Procedure', { start: '2019-01-01T10:00:00.000+01:00', end: '2019-06-29T23:59:59.999+00:00' }],
      ['EpisodeOfCare', { start: '2019-01-01T00:00:00.000+00:00', end: '2020-12-31T23:59:59.999+00:00' }],
    ])
  })

  it('take expressions, FHIRPath and supplemental data into account', async () => {
    const supplementalData = [criteria('Parts')]
    const population = [criteria('exists Main.Chronic', 'text/cql-expression'), criteria('gender', 'text/fhirpath')]
    const { data, dependsOn } = await ofMeasure([criteria('Main.Chronic', 'text/cql-expression'), ...population.slice(1)], {
      supplementalData,
    })
    expect(data.map(({ type, mustSupport }) => [type, mustSupport])).toEqual([
      ['Patient', undefined],
      ['Condition', ['code']],
      ['Observation', ['component']],
    ])
    expect(dependsOn).toContain('http://x/ValueSet/chronic|7')
  })

  it.each([
    ['a definition that does not exist', [criteria('Nothing')], {}, 'definition-not-found'],
    ['a name without a library', [criteria('Visited')], { library: [] }, 'definition-not-found'],
    ['a library that does not exist', [criteria('Visited')], { library: ['http://x/Library/None'] }, 'definition-not-found'],
  ])('%s is refused', async (_, population, over, code) => {
    await expect(ofMeasure(population, over)).rejects.toMatchObject({ code })
  })
})

describe('the data requirements of a Library', () => {
  it('are those of all public definitions, with what they give', async () => {
    const { data, parameters, dependsOn } = await tell({ library: MAIN })
    expect(data.map(({ type }) => type).toSorted()).toEqual([
      'Condition',
      'Encounter',
      'Encounter',
      'Observation',
      'Observation',
      'Patient',
      'Procedure',
    ])
    expect(parameters).toContainEqual({ name: 'Weighed', use: 'out', min: 0, max: '*', type: 'Observation' })
    expect(parameters).toContainEqual({ name: 'Opening', use: 'out', min: 0, max: '1', type: 'Period' })
    expect(parameters).toContainEqual({ name: 'Least', use: 'in', min: 0, max: '1', type: 'integer' })
    expect(parameters).not.toContainEqual(expect.objectContaining({ name: 'Kinds' }))
    expect(dependsOn[0]).toBe('http://x/Library/Main|1')
  })

  it('or of those that are named', async () => {
    const { data, parameters } = await tell({ library: MAIN, definitions: ['Unused'] })
    expect(data).toEqual([profile('Procedure')])
    expect(parameters).toEqual([{ name: 'Unused', use: 'out', min: 0, max: '*', type: 'Procedure' }])
    await expect(tell({ library: MAIN, definitions: ['Nothing'] })).rejects.toMatchObject({ code: 'parameter-value' })
  })

  it('name the elements by which resources are sorted', async () => {
    const { data } = await tell({ library: MAIN, definitions: ['Newest'] })
    expect(data).toEqual([{ ...profile('Observation'), mustSupport: ['effective', 'issued', 'subject.reference'] }])
    expect((await tell({ library: MAIN, definitions: ['Ids'] })).data).toEqual([{ ...profile('Observation'), mustSupport: ['id'] }])
  })

  it('are the same for ELM without types, as old translators write it', async () => {
    const more = `
define Latest: First([Observation] O sort by issued).status
define Any: ([Observation] union [Procedure]) X return X.code
define Lets: [Procedure] P let Q: P return Q.performed
define Inner: (([Encounter] E return E) F where exists F.location) G return G.length
define "Of All": Common."All Visits" V return V.serviceProvider
define Chosen: (if true then First([Condition]) else null).severity
define Rows: from [Condition] C, [Procedure] P return C.stage`
    const includes = new Map([['Common', COMMON_TEXT]])
    const written = { Common: COMMON_TEXT, Main: MAIN_TEXT + more }
    const stored = async (typed: boolean): Promise<readonly LibraryJson[]> =>
      Promise.all(
        Object.entries(written).map(async ([name, cql]) => {
          const { elm, problems } = await translator.translate(cql, includes)
          expect(problems).toEqual([])
          const json = JSON.stringify(elm, (member, value: unknown) =>
            !typed && /^resultType|^signature$/.test(member) ? undefined : value,
          )
          return libraryWith(name, json, {}, 'application/elm+json')
        }),
      )
    const told = async (typed: boolean): Promise<DataRequirementsResult['data']> => {
      const libraries = await stored(typed)
      const main = libraries.find(({ id }) => id === 'main')
      const storage = memoryStorage(libraries, { indexer: release.indexer })
      const ctx = createContext({ ...release, types, storage })
      return (await dataRequirements(ctx, { library: main }, { languages: [cqlLanguage()] })).data
    }
    const typed = await told(true)
    expect(typed.find(({ type }) => type === 'Encounter')?.mustSupport).toContain('length')
    expect(await told(false)).toEqual(typed)
  })

  it('come from ELM without a translator, and from ELM that nests without end they do not', async () => {
    const { elm } = await translator.translate(`library Small using FHIR version '4.0.1' context Patient define A: [Procedure]`)
    const content = (value: unknown): object => ({
      ...MAIN,
      content: [{ contentType: 'application/elm+json', data: btoa(JSON.stringify(value)) }],
    })
    const told = await dataRequirements(context(), { library: content(elm) }, { languages: [cqlLanguage()] })
    expect(told.data).toEqual([profile('Procedure')])
    let expression: object = { type: 'Null' }
    for (let depth = 0; depth < 1_000; depth++) expression = { type: 'Not', operand: expression }
    const deep = { library: { identifier: { id: 'Deep' }, statements: { def: [{ name: 'A', context: 'Patient', expression }] } } }
    await expect(dataRequirements(context(), { library: content(deep) }, { languages: [cqlLanguage()] })).rejects.toMatchObject({
      code: 'definition-invalid',
    })
  })
})
