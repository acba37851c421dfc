import type { JsonObject } from 'fhir-ops/internal/json'
import type { Probe, ProbeCall } from './measures.js'

const GUIDE = 'http://hl7.org/fhir/us/cqfmeasures/StructureDefinition'
const LANGUAGES: Readonly<Record<string, string>> = {
  cql: 'text/cql-expression',
  fhirpath: 'text/fhirpath',
  search: 'application/x-fhir-query',
  text: 'text/cql',
}

/** Criteria of a definition by its name, or `cql: ...`, `text: ...`, `fhirpath: ...`, `search: ...`. */
function criteria(text: string): JsonObject {
  const [, prefix = '', expression] = /^(\w+): (.*)$/.exec(text) ?? []
  const language = LANGUAGES[prefix]
  return language === undefined ? { language: 'text/cql-identifier', expression: text } : { language, expression }
}

const coded = (code: string): JsonObject => ({ coding: [{ code }] })
const extension = (name: string, value: JsonObject): JsonObject => ({ url: `${GUIDE}/cqfm-${name}`, ...value })

interface Part {
  readonly id?: string
  /** The id of the population that this one refers to. */
  readonly of?: string
  readonly aggregate?: string
  readonly basis?: string
}

/** One population: its kind, its criteria and what it refers to. */
function part(kind: string, text: string, { id = kind, of, aggregate, basis }: Part = {}): JsonObject {
  const extensions = [
    ...(of === undefined ? [] : [extension('criteriaReference', { valueString: of })]),
    ...(aggregate === undefined ? [] : [extension('aggregateMethod', { valueString: aggregate })]),
    ...(basis === undefined ? [] : [extension('populationBasis', { valueCode: basis })]),
  ]
  return { id, ...(extensions.length > 0 && { extension: extensions }), code: coded(kind), criteria: criteria(text) }
}

const KINDS: Readonly<Record<string, string>> = {
  ip: 'initial-population',
  d: 'denominator',
  dx: 'denominator-exclusion',
  de: 'denominator-exception',
  n: 'numerator',
  nx: 'numerator-exclusion',
  mp: 'measure-population',
  mx: 'measure-population-exclusion',
}

/** Populations by short names of their kinds. */
function parts(all: Readonly<Record<string, string>>): readonly JsonObject[] {
  return Object.entries(all).map(([kind, text]) => part(KINDS[kind] ?? kind, text))
}

interface GroupOptions {
  readonly id?: string
  readonly more?: readonly JsonObject[]
  /** Stratifiers: the criteria of each, or of each of its components. */
  readonly by?: readonly (string | readonly string[])[]
  readonly notation?: string
}

function group(scoring: string, basis: string, populations: Readonly<Record<string, string>>, options: GroupOptions = {}): JsonObject {
  const { id = 'group-1', more = [], by = [], notation } = options
  const stratifier = by.map((one, at) => ({
    id: `${id}-by-${at + 1}`,
    code: { text: 'by' },
    ...(typeof one === 'string'
      ? { criteria: criteria(one) }
      : { component: one.map((text, index) => ({ id: `${id}-by-${at + 1}-${index}`, code: { text }, criteria: criteria(text) })) }),
  }))
  return {
    id,
    extension: [
      extension('scoring', { valueCodeableConcept: coded(scoring) }),
      extension('populationBasis', { valueCode: basis }),
      ...(notation === undefined
        ? []
        : [
            extension('improvementNotation', {
              valueCodeableConcept: {
                coding: [{ system: 'http://terminology.hl7.org/CodeSystem/measure-improvement-notation', code: notation }],
              },
            }),
          ]),
    ],
    population: [...parts(populations), ...more],
    ...(stratifier.length > 0 && { stratifier }),
  }
}

const supplement = (text: string, usage = 'supplemental-data'): JsonObject => ({
  id: text.toLowerCase().replaceAll(' ', '-'),
  usage: [coded(usage)],
  code: { text },
  criteria: criteria(text),
})

const YEAR = { periodStart: '2024-01-01', periodEnd: '2024-12-31' }
const all: Probe[] = []

/** Adds a written Measure. */
function add(name: string, groups: readonly JsonObject[], call: Partial<ProbeCall> = {}, more: JsonObject = {}): void {
  const id = `written-${name}`
  const measure = {
    resourceType: 'Measure',
    id,
    url: `http://example.org/Measure/${id}`,
    name: id.replaceAll('-', ''),
    status: 'active',
    library: ['http://example.org/Library/Clinic|1'],
    group: groups,
    ...more,
  }
  all.push({ name: `written ${name}`, measure, call: { reportType: 'population', ...YEAR, ...call } })
}

const library = (name: string): JsonObject => ({ library: [`http://example.org/Library/${name}`] })
const about = (type: string): JsonObject => ({
  subjectCodeableConcept: { coding: [{ system: 'http://hl7.org/fhir/resource-types', code: type }] },
})
const proportion = { ip: 'Adult', d: 'Visited', n: 'Heavy' }
const visits = { ip: 'Visits', d: 'Visits', n: 'Acute Visits' }

// Periods: their boundaries, offsets, precision.
for (const name of ['Visits', 'Day Visits', 'Started Visits', 'Ended Visits', 'Touching Visits', 'Visits Before']) {
  const at = name.toLowerCase().replaceAll(' ', '-')
  const cohort = group('cohort', 'Encounter', { ip: name })
  add(`${at}-of-a-year`, [cohort])
  add(`${at}-of-a-day`, [cohort], { periodStart: '2024-01-01', periodEnd: '2024-01-01' })
  add(`${at}-east`, [cohort], { periodStart: '2024-01-01T00:00:00+14:00', periodEnd: '2024-12-31T23:59:59+14:00' })
  add(`${at}-in-daylight-saving`, [cohort], { periodStart: '2024-03-31T00:30:00+01:00', periodEnd: '2024-03-31T04:30:00+02:00' })
}
add('periods-of-onset', [group('cohort', 'Condition', { ip: 'Recent Problems' })])
add('ages-at-onset', [group('cohort', 'Condition', { ip: 'Ageing Problems' })])
add('pressures', [group('proportion', 'boolean', { ip: 'Everybody', d: 'Visited', n: 'High Pressure' })])

// Scorings and bases.
add('proportion', [
  group(
    'proportion',
    'boolean',
    { ...proportion, dx: 'Died', de: 'Diabetic', nx: 'Female' },
    { notation: 'decrease', by: [['Gender'], ['Age Group', 'Gender']] },
  ),
])
add('proportion-of-visits', [
  group(
    'proportion',
    'Encounter',
    { ...visits, dx: 'Long Visits' },
    { by: ['Long Visits', ['Visit Class'], ['Visit Class', 'Gender'], ['Visit Status'], ['Visit Type']] },
  ),
])
add('proportion-of-problems', [
  group('proportion', 'Condition', { ip: 'Problems', d: 'Problems', n: 'Active Problems' }, { by: [['Problem Code']] }),
])
add('proportion-of-procedures', [group('proportion', 'Procedure', { ip: 'Procedures', d: 'Procedures', n: 'Procedures At Visits' })])
add('proportion-of-weights', [
  group('proportion', 'Observation', { ip: 'Weights', d: 'Weights', n: 'Heavy Weights' }, { by: [['Gender']] }),
])
add('exclusions-of-visits', [
  group('proportion', 'Encounter', {
    ip: 'Two Visits',
    d: 'Visits',
    dx: 'Acute Visits',
    n: 'Following Visits',
    nx: 'Long Visits',
    de: 'Lone Visits',
  }),
])
add('cohort-of-days', [group('cohort', 'date', { ip: 'Procedure Days' })])
add('cohort-of-months', [group('cohort', 'integer', { ip: 'Visit Months' })])
add('ratio', [group('ratio', 'boolean', { ip: 'Everybody', d: 'Visited', n: 'High Pressure' }, { by: [['Gender']] })])
add('ratio-of-visits', [group('ratio', 'Encounter', { ip: 'Visits', d: 'Visits', dx: 'Long Visits', n: 'Acute Visits' })])
for (const aggregate of ['sum', 'avg', 'count', 'median', 'max', 'min'])
  add(`ratio-with-observations-${aggregate}`, [
    group(
      'ratio',
      'Encounter',
      { ip: 'Visits', d: 'Visits', n: 'Visits' },
      {
        more: [
          part('measure-observation', 'Minutes', { id: 'od', of: 'denominator', aggregate }),
          part('measure-observation', 'Minutes', { id: 'on', of: 'numerator', aggregate: 'sum' }),
        ],
      },
    ),
  ])
add('ratio-with-two-initial-populations', [
  {
    id: 'group-1',
    extension: [extension('scoring', { valueCodeableConcept: coded('ratio') }), extension('populationBasis', { valueCode: 'boolean' })],
    population: [
      part('initial-population', 'Adult', { id: 'ip-d' }),
      part('initial-population', 'Female', { id: 'ip-n' }),
      part('denominator', 'Visited', { of: 'ip-d' }),
      part('numerator', 'Visited', { of: 'ip-n' }),
    ],
  },
])
add('ratio-with-two-bases', [
  {
    id: 'group-1',
    extension: [extension('scoring', { valueCodeableConcept: coded('ratio') })],
    population: [
      part('initial-population', 'Visits', { id: 'ip-d', basis: 'Encounter' }),
      part('initial-population', 'Procedures', { id: 'ip-n', basis: 'Procedure' }),
      part('denominator', 'Visits', { of: 'ip-d', basis: 'Encounter' }),
      part('numerator', 'Procedures', { of: 'ip-n', basis: 'Procedure' }),
      part('measure-observation', 'Minutes', { id: 'od', of: 'denominator', aggregate: 'sum', basis: 'Encounter' }),
      part('measure-observation', 'Procedure Minutes', { id: 'on', of: 'numerator', aggregate: 'sum', basis: 'Procedure' }),
    ],
  },
])
const observing = (text: string, aggregate: string): GroupOptions => ({
  more: [part('measure-observation', text, { id: 'ob', of: 'measure-population', aggregate })],
})
for (const aggregate of ['sum', 'avg', 'count', 'median', 'max', 'min']) {
  const populations = { ip: 'Visits', mp: 'Visits', mx: 'Acute Visits' }
  add(`minutes-${aggregate}`, [
    group('continuous-variable', 'Encounter', populations, { ...observing('Minutes', aggregate), by: [['Visit Class'], ['Gender']] }),
  ])
  add(`visits-of-patients-${aggregate}`, [
    group('continuous-variable', 'boolean', { ip: 'Everybody', mp: 'Visited' }, observing('Visits Of', aggregate)),
  ])
}
add('hours', [group('continuous-variable', 'Encounter', { ip: 'Visits', mp: 'Visits' }, observing('Hours', 'sum'))])
add('weights', [group('continuous-variable', 'Observation', { ip: 'Weights', mp: 'Weights' }, observing('Weight Value', 'median'))])
add('weights-in-kilograms', [
  group('continuous-variable', 'Observation', { ip: 'Weights', mp: 'Weights' }, observing('Weight Amount', 'max')),
])

// Languages.
add('expressions', [group('proportion', 'boolean', { ip: 'cql: true', d: 'cql: exists [Encounter]', n: 'cql: Heavy and not Female' })])
add('expressions-of-visits', [
  group(
    'proportion',
    'Encounter',
    { ip: 'cql: [Encounter]', d: 'cql: Visits', n: "cql: Visits V where V.class.code = 'EMER'" },
    { by: [['Gender']] },
  ),
])
add('text-of-cql', [group('proportion', 'boolean', { ip: 'text: Everybody', d: 'text: Visited', n: 'text: Heavy' })])
add('expressions-in-strata', [group('cohort', 'boolean', { ip: 'Everybody' }, { by: [['cql: Years div 10', 'Gender']] })])

// Definitions.
for (const name of ['Frequent', 'Weight Changed', 'Prescribed', 'Busy', 'Maybe', 'Diabetic', 'Over60', 'Died'])
  add(`is-${name.toLowerCase().replaceAll(' ', '-')}`, [group('proportion', 'boolean', { ip: 'Everybody', d: 'Everybody', n: name })])
for (const name of ['Chosen Visits', 'Window Visits', 'Long Visits', 'Following Visits', 'Lone Visits', 'Two Visits', 'Acute Visits'])
  add(`has-${name.toLowerCase().replaceAll(' ', '-')}`, [group('cohort', 'Encounter', { ip: name })], { reportType: 'subject-list' })
for (const name of [
  'Years',
  'Birth Year',
  'Marital',
  'Practices',
  'Total Hours',
  'Longest Hours',
  'Last Weight',
  'Kind Of Count',
  'Kind Of Text',
  'Kind Of Decimal',
  'Prescribed Days',
  'Age Group',
])
  add(`by-${name.toLowerCase().replaceAll(' ', '-')}`, [group('cohort', 'boolean', { ip: 'Everybody' }, { by: [[name]] })])
add('by-three', [group('cohort', 'boolean', { ip: 'Everybody' }, { by: [['Gender', 'Age Group', 'Marital'], 'Female'] })])
add('unfiltered', [group('proportion', 'boolean', { ip: 'Many Patients', d: 'Many Patients', n: 'Above Average' })], {}, library('Whole'))

// Subjects.
for (const subject of ['three', 'twice', 'left']) {
  add(`group-${subject}`, [group('proportion', 'boolean', { ip: 'Everybody', d: 'Visited', n: 'Adult' })], { subject: `Group/${subject}` })
  add(`visits-of-group-${subject}`, [group('proportion', 'Encounter', visits)], { subject: `Group/${subject}`, reportType: 'subject-list' })
}
for (const id of ['ann', 'bob', 'cat', 'dan', 'eve', 'fay']) {
  add(
    `one-${id}`,
    [group('proportion', 'boolean', { ...proportion, dx: 'Died', de: 'Diabetic' }, { by: [['Gender'], ['Age Group', 'Gender']] })],
    { reportType: 'subject', subject: `Patient/${id}` },
    {
      supplementalData: [
        supplement('Gender'),
        supplement('Marital'),
        supplement('Years'),
        supplement('Last Weight', 'risk-adjustment-factor'),
        supplement('Total Hours'),
      ],
    },
  )
  add(`visits-of-${id}`, [group('continuous-variable', 'Encounter', { ip: 'Visits', mp: 'Visits' }, observing('Minutes', 'avg'))], {
    reportType: 'subject',
    subject: `Patient/${id}`,
  })
}
add(
  'supplements',
  [group('proportion', 'boolean', { ip: 'Everybody', d: 'Visited', n: 'Adult' })],
  {},
  {
    supplementalData: [supplement('Gender'), supplement('Marital'), supplement('Age Group'), supplement('Years'), supplement('Female')],
  },
)
add(
  'practitioners',
  [group('proportion', 'boolean', { ip: 'Everybody', d: 'Visited', n: 'Female' })],
  {},
  { ...library('Staff'), ...about('Practitioner') },
)
add('visits-of-practitioners', [group('cohort', 'Encounter', { ip: 'Visits' })], {}, { ...library('Staff'), ...about('Practitioner') })
add(
  'one-practitioner',
  [group('cohort', 'Encounter', { ip: 'Visits' })],
  { subject: 'Practitioner/grey', reportType: 'subject' },
  { ...library('Staff'), ...about('Practitioner') },
)
add(
  'organizations',
  [group('proportion', 'boolean', { ip: 'Everybody', d: 'Visited', n: 'Named' })],
  {},
  { ...library('Sites'), ...about('Organization') },
)

// Parameters and failures.
const given = (...parameter: readonly JsonObject[]): Partial<ProbeCall> => ({ parameters: { resourceType: 'Parameters', parameter } })
add('parameter-integer', [group('cohort', 'boolean', { ip: 'Frequent' })], given({ name: 'Least', valueInteger: 2 }))
add(
  'parameter-quantity',
  [group('cohort', 'boolean', { ip: 'Heavy' })],
  given({ name: 'Limit', valueQuantity: { value: 170, unit: '[lb_av]', system: 'http://unitsofmeasure.org', code: '[lb_av]' } }),
)
add(
  'parameter-list',
  [group('cohort', 'Encounter', { ip: 'Chosen Visits' })],
  given({ name: 'Chosen', valueString: 'cancelled' }, { name: 'Chosen', valueString: 'in-progress' }),
)
add(
  'parameter-period',
  [group('cohort', 'Encounter', { ip: 'Window Visits' })],
  given({ name: 'Window', valuePeriod: { start: '2024-07-01', end: '2024-12-31' } }),
)
add('failing', [group('cohort', 'boolean', { ip: 'Failing If Old' })], {}, library('Failing'))
add('two-groups', [
  group('proportion', 'boolean', proportion),
  group('continuous-variable', 'Encounter', { ip: 'Visits', mp: 'Visits' }, { id: 'group-2', ...observing('Minutes', 'avg') }),
])

/** Measures that were written to try what random ones do not: boundaries of periods, kinds of criteria, subjects, parameters. */
export const WRITTEN: readonly Probe[] = all
