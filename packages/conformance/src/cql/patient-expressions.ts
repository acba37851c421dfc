import { randomOf, type Random } from '../fuzz/random.js'

/** The head of the library with random expressions. */
export const LIBRARY_HEAD = `library Random version '1'
using FHIR version '4.0.1'
include FHIRHelpers version '4.0.1' called FHIRHelpers
codesystem "LOINC": 'http://loinc.org'
codesystem "SNOMEDCT": 'http://snomed.info/sct'
codesystem "Categories": 'http://terminology.hl7.org/CodeSystem/observation-category'
codesystem "Clinical": 'http://terminology.hl7.org/CodeSystem/condition-clinical'
valueset "Visits": 'http://example.org/random/visits'
valueset "Disorders": 'http://example.org/random/disorders'
valueset "Measurements": 'http://example.org/random/measurements'
valueset "Actions": 'http://example.org/random/actions'
valueset "Vaccines": 'http://example.org/random/vaccines'
code "Height": '8302-2' from "LOINC"
code "Weight": '29463-7' from "LOINC"
code "Pressure": '55284-4' from "LOINC"
code "Systolic": '8480-6' from "LOINC"
code "Vital signs": 'vital-signs' from "Categories"
code "Active": 'active' from "Clinical"
parameter "Period" Interval<DateTime> default Interval[@2008-01-01T00:00:00.000+00:00, @2015-01-01T00:00:00.000+00:00)
context Patient
`

const SCT = 'http://snomed.info/sct'

/** The codes of the value sets, by canonical. */
export const VALUE_SET_CODES: Readonly<Record<string, readonly (readonly [system: string, code: string])[]>> = {
  'http://example.org/random/visits': ['185349003', '162673000', '410620009', '185345009'].map((code) => [SCT, code] as const),
  'http://example.org/random/disorders': ['38341003', '44054006', '15777000', '195662009', '10509002', '162864005'].map(
    (code) => [SCT, code] as const,
  ),
  'http://example.org/random/measurements': ['8302-2', '29463-7', '39156-5', '2093-3', '72514-3', '4548-4'].map(
    (code) => ['http://loinc.org', code] as const,
  ),
  'http://example.org/random/actions': ['428191000124101', '430193006', '76601001', '73761001'].map((code) => [SCT, code] as const),
  'http://example.org/random/vaccines': ['140', '113', '52', '121'].map((code) => ['http://hl7.org/fhir/sid/cvx', code] as const),
}

/** How expressions retrieve and read a type; `@` is the alias. */
interface Source {
  readonly retrieves: readonly string[]
  /** Its time, a DateTime. */
  readonly moment: string
  /** Its duration, an Interval<DateTime>; absent if it has none. */
  readonly period?: string
  readonly conditions: readonly string[]
}

const SOURCES: Readonly<Record<string, Source>> = {
  Observation: {
    retrieves: [
      '[Observation]',
      '[Observation: "Measurements"]',
      '[Observation: "Height"]',
      '[Observation: code in "Measurements"]',
      '[Observation: "Pressure"]',
    ],
    moment: '(@.effective as FHIR.dateTime).value',
    conditions: [
      "@.status [=|!=] 'final'",
      "@.status in {'final', 'amended'}",
      '@.code [~ "Height"|~ "Weight"|in "Measurements"]',
      "exists (@.code.coding C where C.code in {'8302-2', '2093-3'})",
      'exists (@.category G where G ~ "Vital signs")',
      '@.value is [FHIR.Quantity|FHIR.CodeableConcept|FHIR.string|null|not null]',
      "(@.value as FHIR.Quantity) [>|<|>=|<=] [100 'mg/dL'|170 'cm'|1.5 'm'|70 'kg'|5000 'g'|25.0 'kg/m2'|5 '{score}']",
      "(@.value as FHIR.Quantity).unit = 'cm'",
      "exists (@.component P where (P.value as FHIR.Quantity) > [120|80] 'mm[Hg]')",
      "exists (@.component P where P.code ~ \"Systolic\" and (P.value as FHIR.Quantity) between 100 'mm[Hg]' and 130 'mm[Hg]')",
      '@.issued [after|same day as|1 hour or less after] (@.effective as FHIR.dateTime)',
      'Count(@.component) [=|>] [0|1]',
    ],
  },
  Condition: {
    retrieves: ['[Condition]', '[Condition: "Disorders"]', '[Condition: code in "Disorders"]'],
    moment: '(@.onset as FHIR.dateTime).value',
    period: 'Interval[(@.onset as FHIR.dateTime).value, (@.abatement as FHIR.dateTime).value]',
    conditions: [
      '@.clinicalStatus ~ "Active"',
      '@.code in "Disorders"',
      '@.abatement is [null|not null|FHIR.dateTime]',
      "exists (@.code.coding C where C.display [=|>] 'Hypertension')",
      '@.recordedDate same [day|month|year] as (@.onset as FHIR.dateTime)',
      "@.verificationStatus.coding[0].code = 'confirmed'",
      "StartsWith(@.code.text, 'A')",
    ],
  },
  Encounter: {
    retrieves: ['[Encounter]', '[Encounter: "Visits"]', '[Encounter: type in "Visits"]'],
    moment: 'start of @.period',
    period: '@.period',
    conditions: [
      "@.status [=|~] 'finished'",
      "@.class.code [=|!=] 'AMB'",
      'exists (@.type T where T in "Visits")',
      '[minutes|hours|days] between start of @.period and end of @.period [>|<=] [0|15|20]',
      'duration in minutes of @.period > 15',
      'Count(@.reasonCode) > 0',
      'exists (@.reasonCode R where R in "Disorders")',
      '@.hospitalization is null',
    ],
  },
  Procedure: {
    retrieves: ['[Procedure]', '[Procedure: "Actions"]'],
    moment: 'start of (@.performed as FHIR.Period)',
    period: '(@.performed as FHIR.Period)',
    conditions: [
      "@.status = 'completed'",
      '@.code in "Actions"',
      '@.performed is [FHIR.Period|FHIR.dateTime]',
      'exists @.reasonReference',
      '@.encounter is not null',
    ],
  },
  MedicationRequest: {
    retrieves: ['[MedicationRequest]'],
    moment: '@.authoredOn.value',
    conditions: [
      "@.status [=|!=] 'active'",
      "@.intent = 'order'",
      'exists (((@.medication as FHIR.CodeableConcept).coding) C where Length(C.code) > 6)',
      'Count(@.reasonReference) [=|>] [0|1]',
      'exists @.dosageInstruction',
    ],
  },
  Immunization: {
    retrieves: ['[Immunization]', '[Immunization: "Vaccines"]'],
    moment: '(@.occurrence as FHIR.dateTime).value',
    conditions: [
      "@.status = 'completed'",
      '@.vaccineCode in "Vaccines"',
      '@.primarySource.value',
      "exists (@.vaccineCode.coding C where C.code in {'140', '33'})",
    ],
  },
  CarePlan: {
    retrieves: ['[CarePlan]'],
    moment: 'start of @.period',
    period: '@.period',
    conditions: [
      "@.status in {'active', 'completed'}",
      "exists (@.activity V where V.detail.status = 'in-progress')",
      'Count(@.activity) > [0|1|2]',
      'end of @.period is null',
    ],
  },
  DiagnosticReport: {
    retrieves: ['[DiagnosticReport]'],
    moment: '(@.effective as FHIR.dateTime).value',
    conditions: ["@.status = 'final'", 'Count(@.result) [>|<] [4|8]', '@.issued during [day|month] of "Period"'],
  },
  AllergyIntolerance: {
    retrieves: ['[AllergyIntolerance]'],
    moment: '@.recordedDate.value',
    conditions: ["@.criticality = 'low'", "'food' in @.category", 'exists @.code.coding'],
  },
}

const TYPES = [...Object.keys(SOURCES), 'Observation', 'Observation', 'Encounter', 'Condition']

const PERIODS = [
  '"Period"',
  'Interval[@2010-01-01T00:00:00.000+00:00, @2012-12-31T23:59:59.999+00:00]',
  'Interval(@2000-06-15T00:00:00.000+00:00, null]',
  'Interval[null, @2011-01-01T00:00:00.000+00:00)',
]
const MOMENTS = [
  '@2010-01-01T00:00:00.000+00:00',
  '@2012-02-29T12:00:00.000+00:00',
  '@2005-07-29T20:37:07.500+00:00',
  'start of "Period"',
  'end of "Period"',
]

const ABOUT_MOMENT = [
  '# [during|in] $period',
  '# during [day|month|year] of $period',
  '# [before|after|on or before|on or after] $moment',
  '# same [year or after|month or before|year as|day or after] $moment',
  '# [3|10] years or less [before|after] $moment',
  '# more than [18|100] months before $moment',
  'year from # [=|>|<] [2009|2012]',
  'AgeInYearsAt(#) [>=|<] [18|40|65]',
  'AgeInMonthsAt(#) > 300',
  '# is not null',
]

const ABOUT_PERIOD = [
  '# [overlaps|during|starts before start|ends after end|overlaps before|overlaps after|includes|included in|before|after|meets] $period',
  '# [contains|includes] $moment',
  '# overlaps [day|month|year] of $period',
  '# starts [1 year or less after|2 years or less before|before|after|within 2 years of] [start|end] $period',
]

const RELATIONS = [
  "$a.encounter.reference = 'Encounter/' + $b.id",
  '#a same [day|month|year] as #b',
  '#a [1 year|90 days|24 hours] or less [before|after] #b',
  '#a [before|after] #b',
]

/** Creates the definition with a number in a run. It is the same for the same seed and number. Some definitions have no type. */
export function randomDefinition(seed: number, number: number): string {
  const random = randomOf(seed, number)
  return choose(random, random.one(DEFINITIONS)(random))
}

type Make = (random: Random) => string

const DEFINITIONS: readonly Make[] = [
  boolean,
  boolean,
  (random) => `(${boolean(random)}) [and|or|xor|implies] (${boolean(random)})`,
  (random) => `Count(${list(random).text})`,
  (random) => `Count(collapse (${intervals(random, ENDED)}))`,
  (random) => `[years|months|days|hours] between ${extreme(random)} and ${extreme(random)}`,
  (random) => `difference in [years|months|days] between ${extreme(random)} and ${extreme(random)}`,
  (random) => `AgeInYearsAt(${extreme(random)})`,
  (random) => `${returned(random, 'all year from #')} sort [asc|desc]`,
  (random) => `${returned(random, 'all @.id.value')} sort asc`,
  pairs,
  extreme,
  (random) => `Take((${returned(random, 'all #')} sort [asc|desc]), 3)`,
  (random) => `date from (${extreme(random)})`,
  (random) => `[Min|Max|Sum|Avg](${quantities(random)})`,
  (random) => `collapse (${intervals(random, ENDED)})`,
  (random) => `(${list(random).text}) A aggregate R starting 0: R + [1|2]`,
  (random) => `Tuple { n: Count(${list(random).text}), has: ${boolean(random)} }`,
]

function boolean(random: Random): string {
  return random.one([
    () => `exists ${list(random).text}`,
    () => `exists ${list(random).text}`,
    () => `not exists ${list(random).text}`,
    () => `Count(${list(random).text}) [>|>=|=|<] [0|1|3]`,
    () => filled(random, random.one(ABOUT_MOMENT), extreme(random)),
    () => `AgeInYearsAt(${random.one(MOMENTS)}) >= [18|50]`,
    () => `exists (${intervals(random)} I where ${filled(random, random.one(ABOUT_PERIOD), 'I')})`,
    () => "Patient.gender [=|~|!=] 'female'",
    () => `Patient.deceased is [null|not null|FHIR.dateTime]`,
  ])()
}

/** A list of resources of a type. */
function list(random: Random): { readonly type: string; readonly text: string } {
  const type = random.one(TYPES)
  const source = sourceOf(type)
  const retrieve = random.one(source.retrieves)
  const where = random.seldom(4) ? '' : ` where ${condition(random, source, 'A')}`
  return { type, text: `(${retrieve} A${random.seldom(3) ? relation(random, source) : ''}${where})` }
}

function relation(random: Random, source: Source): string {
  const other = sourceOf(random.one(TYPES))
  const such = related(random, source, other)
  const more = random.seldom(2) ? ` and ${condition(random, other, 'B')}` : ''
  return ` ${random.one(['with', 'with', 'without'])} ${random.one(other.retrieves)} B such that ${such}${more}`
}

/** A relation between A and B. */
function related(random: Random, a: Source, b: Source): string {
  const relation = random.one(RELATIONS).replaceAll('$a', 'A').replaceAll('$b', 'B')
  return relation.replaceAll('#a', momentOf(a, 'A')).replaceAll('#b', momentOf(b, 'B'))
}

function condition(random: Random, source: Source, alias: string): string {
  const one = (): string => {
    const about = random.whole(3)
    if (about === 0) return filled(random, random.one(ABOUT_MOMENT), momentOf(source, alias))
    if (about === 1 && source.period !== undefined) return filled(random, random.one(ABOUT_PERIOD), source.period.replaceAll('@', alias))
    return random.one(source.conditions).replaceAll('@', alias)
  }
  const all = [one(), ...random.some(2, one)]
  return all.map((text) => `(${random.seldom(6) ? 'not ' : ''}(${text}))`).join(random.one([' and ', ' or ']))
}

function filled(random: Random, template: string, subject: string): string {
  return template.replaceAll('#', `(${subject})`).replaceAll('$period', random.one(PERIODS)).replaceAll('$moment', random.one(MOMENTS))
}

function returned(random: Random, what: string): string {
  const { type, text } = list(random)
  return `${text} Q return ${what.replaceAll('#', momentOf(sourceOf(type), 'Q')).replaceAll('@', 'Q')}`
}

function extreme(random: Random): string {
  return random.one([
    () => `Min(${returned(random, '#')})`,
    () => `Max(${returned(random, '#')})`,
    () => `First(${returned(random, 'all #')} sort [asc|desc])`,
    () => `Last(${returned(random, 'all #')} sort asc)`,
    () => random.one(MOMENTS),
  ])()
}

/** Types whose periods have an end: the peer does not merge periods without an end with later ones. */
const ENDED = ['Encounter', 'Procedure']

function intervals(random: Random, types: readonly string[] = ['Encounter', 'Procedure', 'CarePlan', 'Condition']): string {
  const type = random.one(types)
  const source = sourceOf(type)
  return `(${random.one(source.retrieves)} A where ${condition(random, source, 'A')} return ${String(source.period).replaceAll('@', 'A')})`
}

function quantities(random: Random): string {
  return `[Observation: "[Height|Weight]"] A where ${condition(random, sourceOf('Observation'), 'A')} return all (A.value as FHIR.Quantity)`
}

function pairs(random: Random): string {
  const [a, b] = [random.one(TYPES), random.one(TYPES)]
  const [one, other] = [sourceOf(a), sourceOf(b)]
  const such = related(random, one, other)
  return `from ${random.one(one.retrieves)} A, ${random.one(other.retrieves)} B where ${such} and ${condition(random, one, 'A')} return A.id.value + ' ' + B.id.value sort asc`
}

function sourceOf(type: string): Source {
  const source = SOURCES[type]
  if (source === undefined) throw new RangeError(`There is no source ${type}.`)
  return source
}

function momentOf({ moment }: Source, alias: string): string {
  return moment.replaceAll('@', alias)
}

/** Replaces every `[one|other]` by one of the alternatives; brackets without a bar are CQL. */
function choose(random: Random, template: string): string {
  return template.replaceAll(/\[([^[\]]+)\]/g, (whole, choices: string) => (choices.includes('|') ? random.one(choices.split('|')) : whole))
}
