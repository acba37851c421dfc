import { isObject, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import type { Resource } from './ward.js'

/** A call of `$cql`, `Library/$evaluate` or `$data-requirements`, as it is made here and of the reference engine. */
export interface OperationCall {
  readonly name: string
  readonly path: string
  /** A Parameters resource. */
  readonly body: JsonObject
  readonly reference: JsonObject
}

const PERIOD = { start: '2024-01-01', end: '2024-12-31' }
const parameters = (parameter: readonly JsonObject[]): JsonObject => ({ resourceType: 'Parameters', parameter })
const text = (name: string, valueString: string): JsonObject => ({ name, valueString })
const values = (parameter: readonly JsonObject[]): JsonObject => ({ name: 'parameters', resource: parameters(parameter) })
const DURING: JsonObject = {
  name: 'Measurement Period',
  valuePeriod: { start: '2024-01-01T00:00:00.000Z', end: '2024-12-31T23:59:59.999Z' },
}

function expression(code: string, subject?: string): OperationCall {
  const about = subject === undefined ? [] : [text('subject', subject)]
  return {
    name: `$cql ${code}${subject === undefined ? '' : ` of ${subject}`}`,
    path: '$cql',
    body: parameters([text('expression', code), ...about]),
    reference: { operation: 'cql', expression: code, ...(subject !== undefined && { subject }) },
  }
}

function evaluation(library: string, subject: string, given: readonly JsonObject[] = [DURING]): OperationCall {
  return {
    name: `${library} of ${subject}${
      given.length > 1
        ? ` with ${given
            .slice(1)
            .map(({ name }) => String(name))
            .join(', ')}`
        : ''
    }`,
    path: `Library/${library}/$evaluate`,
    body: parameters([text('subject', subject), values(given)]),
    reference: { operation: 'library-evaluate', library, subject, parameters: parameters(given) },
  }
}

function requirements(type: 'Library' | 'Measure', id: string): OperationCall {
  const period =
    type === 'Library'
      ? []
      : [
          { name: 'periodStart', valueDate: PERIOD.start },
          { name: 'periodEnd', valueDate: PERIOD.end },
        ]
  const given = { periodStart: PERIOD.start, periodEnd: PERIOD.end }
  return {
    name: `requirements of ${type}/${id}`,
    path: `${type}/${id}/$data-requirements`,
    body: parameters(period),
    reference: { operation: 'data-requirements', [type.toLowerCase()]: id, ...(type === 'Measure' && given) },
  }
}

const EXPRESSIONS = [
  '1 + 1',
  '5 / 2',
  '5L',
  "'a' + 'b'",
  'true and null',
  'null',
  '{}',
  '{ 1, 2, 3 }',
  '{ 1, null, 3 }',
  '{ { 1 }, { 2, 3 } }',
  '@2024-02-29',
  '@2024-02',
  '@2024-02-29T10:00:00.000+02:00',
  '@2024T',
  '@T10:30',
  "5.5 'mg'",
  '3 days',
  "1 'mg':2 'mL'",
  'Interval[1, 5]',
  'Interval(1.5, 5.5]',
  'Interval[@2024-01-01, @2024-12-31]',
  'Interval[@2024-01-01T00:00:00.000Z, null]',
  "Interval[1 'mg', 5 'mg']",
  'Interval[null, 5]',
  "Tuple { a: 1, b: 'x' }",
  'Tuple { a: null, b: { 1, 2 } }',
  '{ Tuple { a: 1 }, Tuple { a: 2 } }',
  "Code { code: 'a', system: 'http://x' }",
  "Concept { codes: { Code { code: 'a', system: 'http://x' }, Code { code: 'b', system: 'http://x' } }, display: 'x' }",
  'singleton from { 1, 2 }',
  "Message(1, true, 'code', 'Warning', 'text')",
  '1 +',
  'Nothing',
]

/** The calls, over the resources of the clinic. */
export function operationCalls(measures: readonly Resource[]): readonly OperationCall[] {
  const people = ['ann', 'bob', 'cat', 'dan', 'eve', 'fay']
  return [
    ...EXPRESSIONS.map((code) => expression(code)),
    ...[
      'Patient.gender',
      'Patient.birthDate',
      'Patient',
      'Patient.generalPractitioner',
      'AgeInYearsAt(@2024-01-01)',
      '[Encounter] E return E.period',
      '[Condition] C return C.code',
      'First([Observation])',
    ].map((code) => expression(`${code}`, 'Patient/ann')),
    ...people.map((id) => evaluation('clinic', `Patient/${id}`)),
    evaluation('clinic', 'Patient/ann', [
      DURING,
      { name: 'Least', valueInteger: 2 },
      { name: 'Limit', valueQuantity: { value: 70, unit: 'kg', system: 'http://unitsofmeasure.org', code: 'kg' } },
    ]),
    evaluation('clinic', 'Patient/bob', [DURING, text('Chosen', 'planned'), text('Chosen', 'in-progress')]),
    ...['clinic', 'terms', 'whole'].map((id) => requirements('Library', id)),
    ...measures.map(({ id }) => requirements('Measure', id)),
  ]
}

/** The content of an answer in normalized lines: results by name, or the data that is required. */
export function answerLines(answer: JsonObject): readonly string[] {
  if (answer['resourceType'] === 'Library') return [...new Set(objectsAt(answer, 'dataRequirement').flatMap(requirementLines))].toSorted()
  if (answer['resourceType'] !== 'Parameters') return ['refused']
  return objectsAt(answer, 'parameter')
    .map((parameter) => `${stringAt(parameter, 'name') ?? ''} = ${resultText(parameter)}`)
    .toSorted()
}

/** A required type with its codes, and the elements of resources of the type; parts of an element are counted as the element. */
function requirementLines(requirement: JsonObject): readonly string[] {
  const type = stringAt(requirement, 'type') ?? ''
  const codes = objectsAt(requirement, 'codeFilter').map((filter) => {
    const listed = objectsAt(filter, 'code').map((code) => stringAt(code, 'code') ?? '')
    return ` ${stringAt(filter, 'path') ?? ''} in ${stringAt(filter, 'valueSet') ?? listed.join(' ')}`
  })
  const read = Array.isArray(requirement['mustSupport']) ? requirement['mustSupport'] : []
  return [`${type}${codes.join('')}`, ...read.map((path) => `${type}.${String(path).split('.')[0] ?? ''}`)]
}

function resultText(parameter: JsonObject): string {
  const { resource } = parameter
  if (!isObject(resource)) {
    const value = Object.entries(parameter).filter(([member]) => member !== 'name' && member !== 'extension')
    return sortedJson(Object.fromEntries(value)).replaceAll('+00:00', 'Z')
  }
  if (resource['resourceType'] === 'OperationOutcome') return stringAt(objectsAt(resource, 'issue')[0], 'severity') ?? ''
  return `${stringAt(resource, 'resourceType') ?? ''}/${(stringAt(resource, 'id') ?? '').split('/').at(-1) ?? ''}`
}

function sortedJson(value: unknown): string {
  return JSON.stringify(value, (member, one: unknown) => {
    if (member === 'extension' && Array.isArray(one) && JSON.stringify(one).includes('cqlType')) return undefined
    return isObject(one) ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1))) : one
  })
}

/** The reason why answers differ, and which one is right by the specification. */
interface Decision {
  readonly name: string
  readonly why: string
  readonly explains: (call: string, line: string) => boolean
}

const DECISIONS: readonly Decision[] = [
  {
    name: 'definition of the context',
    why: 'The translator adds a definition `Patient` to each context; it is none that the author wrote, and is not reported here.',
    explains: (_, line) => line.startsWith('Patient = Patient/'),
  },
  {
    name: 'types that R4 lacks',
    why: 'A Long is a string, intervals of numbers are a Range, dates remain dates and an end without a value has none (Using CQL with FHIR, 4.3); clinical reasoning fails for a Long, and writes intervals as CQL or as times.',
    explains: (call) => /^\$cql (?:5L|Interval)/.test(call),
  },
  {
    name: 'forms of a value',
    why: 'A time of FHIR has seconds (R4, time), and R4 has no system of calendar units.',
    explains: (call) => /^\$cql (?:@T|3 days)/.test(call),
  },
  {
    name: 'expressions with errors',
    why: 'An expression that cannot be translated is refused (422), as no evaluation began; clinical reasoning answers with parameters.',
    explains: (call) => /^\$cql (?:1 \+$|Nothing)/.test(call),
  },
  {
    name: 'messages',
    why: 'What `Message` says is part of the answer, besides the result (CQL, Message); clinical reasoning writes it to its log.',
    explains: (_, line) => line.startsWith('_messages = '),
  },
  {
    name: 'elements that are missing',
    why: 'An element that may repeat and does not occur is an empty list, so that a query over it is one, too; clinical reasoning gives null.',
    explains: (_, line) => line.startsWith('Practices = '),
  },
  {
    name: 'parts of an element',
    why: 'The reference of `Patient.generalPractitioner` is read with that element; clinical reasoning lists it as an element of Patient, which has none of that name.',
    explains: (call, line) => call.startsWith('requirements of') && line === 'reference Patient.reference',
  },
  {
    name: 'data that is needed besides',
    why: 'The requirements name the subjects, and what criteria read that are expressions, names of functions, or in relationships; clinical reasoning leaves some of it out.',
    explains: (call, line) => call.startsWith('requirements of') && line.startsWith('ours'),
  },
]

/** Every line that differs, with the reason. */
export function differingLines(call: string, ours: readonly string[], reference: readonly string[]): readonly string[] {
  const lines = [...ours.map((line) => ['ours', line] as const), ...reference.map((line) => ['reference', line] as const)]
  return lines.map(([whose, line]) => {
    const decision = DECISIONS.find(({ explains }) => explains(call, line) || explains(call, `${whose} ${line}`))?.name ?? 'undecided'
    return `${[decision, call, `${whose} ${line}`].join('\t')}\n`
  })
}
