import type {
  Comparison,
  ComponentFilter,
  ConceptFilter,
  ConceptList,
  ConceptReference,
  DescriptionFilter,
  MemberFilter,
  Acceptability,
  Dialect,
} from './ast.js'
import { parseAttributeValue, type SubParser } from './parse-refinement.js'
import {
  parseComparison,
  parseConcept,
  parseConceptSet,
  parseEquality,
  parseId,
  parseSearchTerms,
  parseSet,
  parseTimes,
  takeAny,
} from './parse-terminals.js'
import { isDigit, isLetter, type EclReader, EclError } from './reader.js'

type FilterParser<T> = (reader: EclReader, sub: SubParser) => T

const COMPONENT: readonly (readonly [string, FilterParser<ComponentFilter>])[] = [
  ['moduleid', (reader, sub) => ({ kind: 'module', comparison: parseEquality(reader), modules: conceptList(reader, sub) })],
  ['effectivetime', (reader) => ({ kind: 'effectiveTime', comparison: parseComparison(reader), times: parseTimes(reader) })],
  ['active', (reader) => ({ kind: 'active', active: activeValue(reader, parseEquality(reader)) })],
]

const DESCRIPTION: readonly (readonly [string, FilterParser<DescriptionFilter>])[] = [
  ['term', (reader) => ({ kind: 'term', comparison: parseEquality(reader), terms: parseSearchTerms(reader) })],
  ['language', (reader) => ({ kind: 'language', comparison: parseEquality(reader), languages: tokens(reader, languageCode) })],
  ['typeid', (reader, sub) => ({ kind: 'type', comparison: parseEquality(reader), types: conceptList(reader, sub) })],
  ['type', (reader) => ({ kind: 'type', comparison: parseEquality(reader), types: tokenList(reader, TYPES) })],
  ['dialectid', (reader, sub) => ({ kind: 'dialect', comparison: parseEquality(reader), dialects: parseDialectIds(reader, sub) })],
  ['dialect', (reader) => ({ kind: 'dialect', comparison: parseEquality(reader), dialects: parseDialects(reader) })],
  ['id', (reader) => ({ kind: 'id', comparison: parseEquality(reader), ids: tokens(reader, parseId).map(({ id }) => id) })],
  ...COMPONENT,
]

const CONCEPT: readonly (readonly [string, FilterParser<ConceptFilter>])[] = [
  [
    'definitionstatusid',
    (reader, sub) => ({ kind: 'definitionStatus', comparison: parseEquality(reader), statuses: conceptList(reader, sub) }),
  ],
  [
    'definitionstatus',
    (reader) => ({ kind: 'definitionStatus', comparison: parseEquality(reader), statuses: tokenList(reader, STATUSES) }),
  ],
  ...COMPONENT,
]

const TYPES: ReadonlyMap<string, string> = new Map([
  ['syn', '900000000000013009'],
  ['synonym', '900000000000013009'],
  ['fsn', '900000000000003001'],
  ['fullyspecifiedname', '900000000000003001'],
  ['def', '900000000000550004'],
  ['definition', '900000000000550004'],
])

const STATUSES: ReadonlyMap<string, string> = new Map([
  ['primitive', '900000000000074008'],
  ['defined', '900000000000073002'],
])

/** Parses a description filter. */
export function parseDescriptionFilter(reader: EclReader, sub: SubParser): DescriptionFilter {
  return named(reader, sub, DESCRIPTION) ?? reader.fail('A description filter')
}

/** Parses a concept filter. */
export function parseConceptFilter(reader: EclReader, sub: SubParser): ConceptFilter {
  return named(reader, sub, CONCEPT) ?? reader.fail('A concept filter')
}

/** Parses a member filter: one for components of any kind, or one for a field by name. */
export function parseMemberFilter(reader: EclReader, sub: SubParser): MemberFilter {
  const component = named(reader, sub, COMPONENT)
  if (component !== undefined) return component
  const { at } = reader
  const field = reader.run(isLetter)
  if (field === '') reader.fail('A field of the reference set')
  reader.blanks()
  return { kind: 'field', field, at, value: fieldValue(reader, sub) }
}

function fieldValue(reader: EclReader, sub: SubParser): Extract<MemberFilter, { kind: 'field' }>['value'] {
  const { at } = reader
  const comparison = parseComparison(reader)
  if (/^\(?\s*"(?:[0-9]{8})?"/.test(reader.run(() => true))) {
    reader.back(at)
    parseComparison(reader)
    return { kind: 'time', comparison, times: parseTimes(reader) }
  }
  reader.back(at)
  return parseAttributeValue(reader, sub)
}

function named<T>(reader: EclReader, sub: SubParser, parsers: readonly (readonly [string, FilterParser<T>])[]): T | undefined {
  const found = parsers.find(([word]) => reader.takeWord(word))
  if (found === undefined) return undefined
  reader.blanks()
  return found[1](reader, sub)
}

function conceptList(reader: EclReader, sub: SubParser): ConceptList {
  if (reader.sees('(') && holdsSet(reader)) return { kind: 'list', concepts: parseConceptSet(reader) }
  return { kind: 'constraint', constraint: sub(reader) }
}

/** True if the brackets contain two adjacent concepts, which form a set; anything else in brackets is a constraint. */
function holdsSet(reader: EclReader): boolean {
  const { at } = reader
  reader.take('(')
  reader.blanks()
  reader.run(isDigit)
  reader.blanks()
  if (reader.take('|')) reader.run((character) => character !== '|')
  reader.take('|')
  reader.blanks()
  const isSet = reader.run(isDigit) !== ''
  reader.back(at)
  return isSet
}

function tokens<T>(reader: EclReader, token: (reader: EclReader) => T): readonly T[] {
  return reader.sees('(') ? parseSet(reader, token) : [token(reader)]
}

function tokenList(reader: EclReader, known: ReadonlyMap<string, string>): ConceptList {
  const token = (): ConceptReference => {
    const { at } = reader
    const found = Array.from(known).find(([word]) => reader.takeWord(word))
    return { id: found?.[1] ?? reader.fail(`One of ${[...known.keys()].join(', ')}`), at }
  }
  return { kind: 'list', concepts: tokens(reader, token) }
}

function languageCode(reader: EclReader): string {
  const code = reader.run(isLetter)
  return code.length === 2 ? code.toLowerCase() : reader.fail('A language code of two letters')
}

function activeValue(reader: EclReader, comparison: Comparison): boolean | 'any' {
  if (comparison === '=' && takeAny(reader)) return 'any'
  if (reader.takeWord('true') || reader.take('1')) return comparison === '='
  return reader.takeWord('false') || reader.take('0') ? comparison !== '=' : reader.fail("'1', '0', 'true' or 'false'")
}

/** Parses language reference sets by dialect alias, each optionally with acceptabilities. */
function parseDialects(reader: EclReader): readonly Dialect[] {
  return dialects(reader, alias)
}

/** Parses language reference sets by id, each optionally with acceptabilities, or by a constraint. */
function parseDialectIds(reader: EclReader, sub: SubParser): readonly Dialect[] {
  if (holdsIds(reader)) return dialects(reader, parseConcept)
  return [{ refset: { constraint: sub(reader) }, acceptability: acceptability(reader) }]
}

/** True for a set: an id in brackets, or ids with acceptabilities. Anything else in brackets is a constraint. */
function holdsIds(reader: EclReader): boolean {
  const { at } = reader
  const isBracket = reader.take('(')
  reader.blanks()
  const id = reader.run(isDigit)
  reader.blanks()
  if (reader.take('|')) reader.run((character) => character !== '|')
  reader.take('|')
  reader.blanks()
  const isSet = isBracket && id !== '' && (reader.sees('(') || reader.sees(')') || reader.run(isDigit) !== '')
  reader.back(at)
  return isSet
}

/** Parses a set of dialects. Acceptabilities after the set apply to those dialects in it that have none of their own. */
function dialects(reader: EclReader, refset: (reader: EclReader) => Dialect['refset']): readonly Dialect[] {
  const one = (): Dialect => ({ refset: refset(reader), acceptability: acceptability(reader) })
  if (!reader.sees('(')) return [one()]
  const found = parseSet(reader, one)
  const shared = acceptability(reader)
  return found.map((dialect) => (dialect.acceptability.length > 0 ? dialect : { ...dialect, acceptability: shared }))
}

function alias(reader: EclReader): Dialect['refset'] {
  const { at } = reader
  const text = reader.run((character) => character === '-' || isLetter(character) || isDigit(character))
  if (!/^[a-zA-Z]/.test(text)) reader.fail('A dialect')
  return { alias: text.toLowerCase(), at }
}

function acceptability(reader: EclReader): readonly Acceptability[] {
  const end = reader.at
  reader.blanks()
  if (reader.sees('(')) return parseSet(reader, oneAcceptability)
  reader.back(end)
  return []
}

const IDS: ReadonlyMap<string, Acceptability> = new Map([
  ['900000000000548007', 'preferred'],
  ['900000000000549004', 'acceptable'],
])

function oneAcceptability(reader: EclReader): Acceptability {
  if (reader.takeWord('preferred') || reader.takeWord('prefer')) return 'preferred'
  if (reader.takeWord('acceptable') || reader.takeWord('accept')) return 'acceptable'
  const concept: ConceptReference = parseConcept(reader)
  const known = IDS.get(concept.id)
  if (known === undefined) throw new EclError(`${concept.id} is not an acceptability`, concept.at)
  return known
}
