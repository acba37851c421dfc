import { EclError, type DescriptionFilter, type Dialect } from '../../../ecl/index.js'
import { and, or, type Bitmap } from '../../bitmap.js'
import { filterWords } from '../../words.js'
import { DIALECTS } from '../dialects.js'
import { ACCEPTABILITY } from '../index/descriptions.js'
import { SCT } from '../sctid.js'
import { componentTest } from './component-filter.js'
import { conceptsIn, tested, type EclScope } from './ecl-scope.js'
import { matchesAny, wordsOfTerm } from './text-match.js'

type RowTest = (row: number) => boolean

/** The concepts with a description for which all filters hold. Inactive descriptions count only when a filter speaks of them. */
export function withDescription(scope: EclScope, filters: readonly DescriptionFilter[], concepts: Bitmap): Bitmap {
  const { descriptions } = scope.index
  const tests = filters.map((filter) => rowTest(scope, filter))
  const speaksOfActive = filters.some(({ kind }) => kind === 'active')
  const accepts = (row: number): boolean => (speaksOfActive || descriptions.isActive(row)) && tests.every((test) => test(row))
  const candidates = speaksOfActive ? concepts : and(concepts, candidatesFor(scope, filters) ?? concepts)
  return tested(candidates, (concept) => {
    const [from, to] = descriptions.rowsOf(concept)
    for (let row = from; row < to; row++) if (accepts(row)) return true
    return false
  })
}

/** Concepts found by the words of a term filter, and those with a definition, which has no words in the index. */
function candidatesFor({ index }: EclScope, filters: readonly DescriptionFilter[]): Bitmap | undefined {
  const term = filters.find((filter) => filter.kind === 'term' && filter.comparison === '=')
  if (term?.kind !== 'term' || term.terms.some(({ match }) => match === 'wild')) return undefined
  const each = term.terms.map((one) =>
    wordsOfTerm(one)
      .flatMap(filterWords)
      .map((word) => index.words.startingWith(word.start))
      .reduce(and, index.all()),
  )
  return mayBeDefinition(filters) ? each.reduce(or, index.explained()) : each.reduce(or)
}

function mayBeDefinition(filters: readonly DescriptionFilter[]): boolean {
  const type = filters.find(({ kind }) => kind === 'type')
  if (type?.kind !== 'type' || type.comparison !== '=' || type.types.kind !== 'list') return true
  return type.types.concepts.some(({ id }) => id === SCT.definition)
}

function rowTest(scope: EclScope, filter: DescriptionFilter): RowTest {
  const { descriptions } = scope.index
  switch (filter.kind) {
    case 'term':
      return (row) => matchesAny(filter.terms, descriptions.term(row)) === (filter.comparison === '=')
    case 'language':
      return (row) => filter.languages.includes(descriptions.language(row)) === (filter.comparison === '=')
    case 'id':
      return (row) => filter.ids.includes(descriptions.id(row)) === (filter.comparison === '=')
    case 'type':
      return typeTest(scope, filter)
    case 'dialect':
      return dialectTest(scope, filter)
    default:
      return componentRowTest(scope, filter)
  }
}

function componentRowTest(scope: EclScope, filter: Parameters<typeof componentTest>[1]): RowTest {
  const { descriptions } = scope.index
  const test = componentTest(scope, filter)
  return (row) =>
    test({ active: descriptions.isActive(row), module: descriptions.module(row), effectiveTime: descriptions.effectiveTime(row) })
}

const KIND_IDS = [SCT.fullySpecifiedName, SCT.synonym, SCT.definition] as const

function typeTest(scope: EclScope, { comparison, types }: Extract<DescriptionFilter, { kind: 'type' }>): RowTest {
  const { ids, descriptions } = scope.index
  const listed = types.kind === 'list' ? new Set(types.concepts.map(({ id }) => id)) : undefined
  const selected = types.kind === 'list' ? undefined : conceptsIn(scope, types)
  const accepted = KIND_IDS.map((id) => listed?.has(id) ?? selected?.has(ids.find(id) ?? scope.index.size) ?? false)
  return (row) => (accepted[descriptions.kind(row)] ?? false) === (comparison === '=')
}

function dialectTest(scope: EclScope, { comparison, dialects }: Extract<DescriptionFilter, { kind: 'dialect' }>): RowTest {
  const { index } = scope
  const wanted = dialects.flatMap((dialect) => {
    const isMeant = refsetTest(scope, dialect)
    const accepted = acceptedOf(dialect)
    return index.header.dialects.flatMap((id, number) => (isMeant(id) ? [{ number, accepted }] : []))
  })
  return (row) =>
    wanted.some(({ number, accepted }) => accepted.has(index.descriptions.acceptability(row, number))) === (comparison === '=')
}

/** True for the ids of the language reference sets that are meant. */
function refsetTest({ index, evaluate }: EclScope, { refset }: Dialect): (id: string) => boolean {
  if ('constraint' in refset) {
    const meant = evaluate(refset.constraint)
    return (id) => meant.has(index.ids.find(id) ?? index.size)
  }
  const wanted = 'id' in refset ? refset.id : DIALECTS.get(refset.alias)
  if (wanted === undefined) throw new EclError(`The dialect ${'alias' in refset ? refset.alias : ''} is not known`, refset.at)
  return (id) => id === wanted
}

function acceptedOf({ acceptability }: Dialect): ReadonlySet<number> {
  if (acceptability.length === 0) return new Set([ACCEPTABILITY.acceptable, ACCEPTABILITY.preferred])
  return new Set(acceptability.map((word) => ACCEPTABILITY[word]))
}
