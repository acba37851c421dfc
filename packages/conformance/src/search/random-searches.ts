import fc from 'fast-check'
import type { Pair } from './naive/search.js'
import { ADDRESS, CODES, DATES, DAYS, IDS, NAMES, NUMBERS, SYSTEMS, UNITS, URIS } from './random-resources.js'

/** A search of one or more types. */
export interface Search {
  /** In alphabetical order. */
  readonly types: readonly string[]
  readonly pairs: readonly Pair[]
}

const one = <T>(values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values)
const list = (value: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.array(value, { minLength: 1, maxLength: 3 }).map((values) => values.join(','))
const PREFIXES = ['', 'eq', 'ne', 'gt', 'lt', 'ge', 'le', 'sa', 'eb', 'ap'] as const
const prefixed = (value: fc.Arbitrary<string>): fc.Arbitrary<string> => fc.tuple(one(PREFIXES), value).map((parts) => parts.join(''))

/** Modifiers, each with its possible values. */
type Kind = readonly (readonly [modifier: string, value: fc.Arbitrary<string>])[]

/** Escapes characters that separate values with a backslash. */
const escaped = (text: string): string => text.replaceAll(/[,|$\\]/g, String.raw`\$&`)

const tokensOf = (codes: readonly string[], systems: readonly string[]): Kind => {
  const code = one(codes).map(escaped)
  const token = fc.oneof(
    code,
    fc.tuple(one(systems), code).map((parts) => parts.join('|')),
    code.map((value) => `|${value}`),
    one(systems).map((system) => `${system}|`),
  )
  return [
    ['', list(token)],
    [':not', list(token)],
    [':missing', one(['true', 'false'])],
  ]
}
const text = one([...NAMES, 'an', 'ä', 'n A', '\u1100', '0%', '_', '|c']).map(escaped)
const DATE = one([...DATES, ...DAYS, '2020-02-29T12:30Z', '2020-03-01T10:00+05:30'])
const NUMBER = one([...NUMBERS.map(String), '1.0', '1.00', '99.50', '100.0', '1e1', '1e2'])
const KINDS = {
  token: [...tokensOf(CODES, SYSTEMS), [':text', list(text)]],
  string: [
    ['', list(text)],
    [':exact', list(text)],
    [':contains', list(text)],
    [':missing', one(['true', 'false'])],
  ],
  date: [
    ['', list(prefixed(DATE))],
    [':missing', one(['true', 'false'])],
  ],
  number: [
    ['', list(prefixed(NUMBER))],
    [':missing', one(['true', 'false'])],
  ],
  quantity: [
    [
      '',
      list(prefixed(fc.tuple(NUMBER, one(['', ...UNITS.map((unit) => `||${unit}`), `|${SYSTEMS[0]}|kg`])).map((parts) => parts.join('')))),
    ],
    [':missing', one(['true', 'false'])],
  ],
  uri: [
    ['', list(one(URIS))],
    [':below', list(one(URIS))],
    [':above', list(one(URIS))],
    [':missing', one(['true', 'false'])],
  ],
} satisfies Readonly<Record<string, Kind>>

const word = one(['Ann', 'anne', 'Änne', 'Ben', 'an', '日本', 'http', 'x', 'b'])
const WORDS: Kind = [
  [
    '',
    list(
      fc.oneof(
        word,
        fc.tuple(word, word).map((words) => words.join(' ')),
        fc.tuple(word, word).map((words) => words.join(' or ')),
        word.map((each) => `not ${each}`),
      ),
    ),
  ],
  [':missing', one(['true', 'false'])],
]

const codes = (values: readonly string[], system: string): Kind => tokensOf(values, [system, 'http://a'])
const FLAG = tokensOf(['true', 'false'], ['http://a'])
/** Search values for references to one type, which may also be an id alone. */
const to = (type: string): Kind => {
  const ids = IDS[type] ?? []
  return [
    ['', list(one([...ids, ...ids.map((id) => `${type}/${id}`), ADDRESS]))],
    [`:${type}`, list(one(ids))],
    [':missing', one(['true', 'false'])],
  ]
}

const LIST: Kind = [['', list(one(IDS['List'] ?? []))]]
const IDENTIFIERS: Kind = [
  ...KINDS.token,
  [':of-type', list(fc.tuple(one(SYSTEMS), one(CODES), one(CODES)).map((parts) => parts.map(escaped).join('|')))],
]
const tuple = (...parts: readonly Kind[]): Kind => [
  [
    '',
    list(
      fc
        .tuple(...parts.map(([plain]) => plain?.[1].filter((value) => !value.includes(',')) ?? fc.constant('')))
        .map((values) => values.join('$')),
    ),
  ],
]
/** A reference may have an identifier in addition to, or instead of, an address. */
const SUBJECT: Kind = [
  ...to('Patient'),
  [':identifier', list(one([...CODES.map(escaped), ...SYSTEMS.map((system) => `${system}|${CODES[0]}`)]))],
]

const EVERYWHERE: Readonly<Record<string, Kind>> = { _tag: KINDS.token, _source: KINDS.uri, _list: LIST, _text: WORDS, _content: WORDS }

const PLAIN: Readonly<Record<string, Readonly<Record<string, Kind>>>> = {
  Organization: { ...EVERYWHERE, name: KINDS.string, active: FLAG, partof: to('Organization'), identifier: IDENTIFIERS },
  Patient: {
    ...EVERYWHERE,
    name: KINDS.string,
    family: KINDS.string,
    gender: codes(['male', 'female'], 'http://hl7.org/fhir/administrative-gender'),
    active: FLAG,
    birthdate: KINDS.date,
    identifier: IDENTIFIERS,
    organization: to('Organization'),
    'general-practitioner': to('Organization'),
  },
  Encounter: {
    ...EVERYWHERE,
    status: codes(['planned', 'finished'], 'http://hl7.org/fhir/encounter-status'),
    date: KINDS.date,
    subject: SUBJECT,
    patient: SUBJECT,
    'part-of': to('Encounter'),
  },
  Observation: {
    ...EVERYWHERE,
    code: KINDS.token,
    status: codes(['final', 'amended'], 'http://hl7.org/fhir/observation-status'),
    date: KINDS.date,
    'value-quantity': KINDS.quantity,
    'value-string': KINDS.string,
    'code-value-quantity': tuple(KINDS.token, KINDS.quantity),
    'code-value-string': tuple(KINDS.token, KINDS.string),
    'component-code': KINDS.token,
    'combo-code': KINDS.token,
    'combo-value-quantity': KINDS.quantity,
    'component-code-value-quantity': tuple(KINDS.token, KINDS.quantity),
    'combo-code-value-quantity': tuple(KINDS.token, KINDS.quantity),
    subject: SUBJECT,
    patient: SUBJECT,
    encounter: to('Encounter'),
    'derived-from': to('Observation'),
  },
  RiskAssessment: { ...EVERYWHERE, probability: KINDS.number, subject: SUBJECT },
  ValueSet: { ...EVERYWHERE, url: KINDS.uri, date: KINDS.date, title: KINDS.string },
  List: { ...EVERYWHERE, title: KINDS.string },
}

/** A parameter whose targets refer to any type by `subject`, so that chains over it must name the type. */
const NAMED = 'derived-from'

/** Targets of references: type, parameter, target. */
const LINKS: readonly (readonly [source: string, code: string, target: string])[] = [
  ['Organization', 'partof', 'Organization'],
  ['Patient', 'organization', 'Organization'],
  ['Patient', 'general-practitioner', 'Organization'],
  ['Encounter', 'subject', 'Patient'],
  ['Encounter', 'patient', 'Patient'],
  ['Encounter', 'part-of', 'Encounter'],
  ['Observation', 'subject', 'Patient'],
  ['Observation', 'patient', 'Patient'],
  ['Observation', 'encounter', 'Encounter'],
  ['Observation', 'derived-from', 'Observation'],
  ['RiskAssessment', 'subject', 'Patient'],
]

function pairsBy(kinds: Readonly<Record<string, Kind>>): readonly fc.Arbitrary<Pair>[] {
  return Object.entries(kinds).flatMap(([code, kind]) =>
    kind.map(([modifier, value]) => value.map((asked): Pair => [`${code}${modifier}`, asked])),
  )
}

function pairsByResource(ids: readonly string[]): readonly fc.Arbitrary<Pair>[] {
  const values = list(one(ids))
  return [
    values.map((value): Pair => ['_id', value]),
    values.map((value): Pair => ['_id:not', value]),
    list(prefixed(one(['2023-01-01', '2023-01-02', '2023']))).map((value): Pair => ['_lastUpdated', value]),
  ]
}

/** A search parameter of the type that follows at most this many references. */
function pairOf(type: string, depth: number): fc.Arbitrary<Pair> {
  const own = pairsBy(PLAIN[type] ?? {})
  const everywhere = pairsByResource(IDS[type] ?? [])
  if (depth === 0) return fc.oneof(...own, ...everywhere)
  const forward = LINKS.filter(([source]) => source === type).map(([, code, target]) =>
    fc
      .tuple(fc.boolean(), pairOf(target, depth - 1))
      .map(([named, [name, value]]): Pair => [`${code}${named || code === NAMED ? `:${target}` : ''}.${name}`, value]),
  )
  const backward = LINKS.filter(([, , target]) => target === type).map(([source, code]) =>
    pairOf(source, depth - 1).map(([name, value]): Pair => [`_has:${source}:${code}:${name}`, value]),
  )
  return fc.oneof(
    { weight: 3, arbitrary: fc.oneof(...own, ...everywhere) },
    ...[...forward, ...backward].map((arbitrary) => ({ weight: 1, arbitrary })),
  )
}

const MAX_DEPTH = 3

function searchOf(type: string): fc.Arbitrary<Search> {
  const sortable = Object.keys(PLAIN[type] ?? {}).filter((code) => !UNSORTED.has(code) && !code.includes('code-value-'))
  const filters = fc.array(pairOf(type, MAX_DEPTH), { maxLength: 3 })
  const plain = fc.tuple(filters, sortBy(sortable), count)
  if (!CONTAINED.has(type)) return plain.map((parts) => ({ types: [type], pairs: parts.flat() }))
  const byItself = Object.entries(PLAIN[type] ?? {}).filter(([code, kind]) => sortable.includes(code) && !isReference(kind))
  const shown = fc.oneof(
    fc.tuple(amongContained('contained'), sortBy(byItself.map(([code]) => code))),
    fc.tuple(amongContained('container'), sortBy([])),
  )
  const contained = fc.tuple(filters, shown, count).map(([pairs, parts, limit]) => [pairs, ...parts, limit])
  return fc.oneof(plain, contained).map((parts) => ({ types: [type], pairs: parts.flat() }))
}

/** Types that random resources contain. */
const CONTAINED: ReadonlySet<string> = new Set(['Organization', 'Patient'])

function amongContained(shown: string): fc.Arbitrary<readonly Pair[]> {
  return one(['true', 'both']).map((among): readonly Pair[] => [
    ['_contained', among],
    ['_containedType', shown],
  ])
}

function isReference(kind: Kind): boolean {
  return kind.some(([modifier]) => modifier === ':Organization')
}

const count = fc.integer({ min: 1, max: 4 }).map((value): readonly Pair[] => [['_count', String(value)]])

function sortBy(codes: readonly string[]): fc.Arbitrary<readonly Pair[]> {
  const keys = ['_id', '_lastUpdated', ...codes].flatMap((code) => [code, `-${code}`])
  return fc
    .uniqueArray(one(keys), { maxLength: 2, selector: (key) => key.replace(/^-/, '') })
    .map((sorted): readonly Pair[] => (sorted.length === 0 ? [] : [['_sort', sorted.join(',')]]))
}

/** Parameters that cannot be used for sorting. */
const UNSORTED: ReadonlySet<string> = new Set(['_content', '_list', '_text'])

/** Types with common parameters, of the same kind and with values of the same meaning. */
const TOGETHER: readonly (readonly [types: readonly string[], shared: Readonly<Record<string, Kind>>])[] = [
  [Object.keys(PLAIN).sort(), EVERYWHERE],
  [['Encounter', 'Observation', 'RiskAssessment'], { ...EVERYWHERE, subject: SUBJECT }],
  [['Encounter', 'Observation'], { ...EVERYWHERE, date: KINDS.date, patient: SUBJECT, subject: SUBJECT }],
  [['Organization', 'Patient'], { ...EVERYWHERE, name: KINDS.string, active: FLAG, identifier: IDENTIFIERS }],
  [['List', 'ValueSet'], { ...EVERYWHERE, title: KINDS.string }],
]

function searchTogether([types, shared]: (typeof TOGETHER)[number]): fc.Arbitrary<Search> {
  const filters = fc.array(fc.oneof(...pairsBy(shared), ...pairsByResource(Object.values(IDS).flat())), { maxLength: 2 })
  const sortable = Object.keys(shared).filter((code) => !UNSORTED.has(code))
  return fc.tuple(filters, sortBy(sortable), count).map((parts) => ({ types, pairs: parts.flat() }))
}

/** Searches over random types, sometimes over several types together. */
export const search: fc.Arbitrary<Search> = fc.oneof(
  { weight: 3, arbitrary: fc.oneof(...Object.keys(PLAIN).map(searchOf)) },
  { weight: 1, arbitrary: fc.oneof(...TOGETHER.map(searchTogether)) },
)
