import { EclError, type DescriptionFilter, type Dialect, type ComponentFilter } from '../ecl/index.js'
import { and, or, type Bitmap } from 'fhir-ops/terminology'
import { emptyBitmap } from 'fhir-ops/internal/bits'
import type { Work } from 'fhir-ops/internal/work'
import { filterWords } from 'fhir-ops/internal/terminology'
import { DIALECTS } from '../provider/texts.js'
import { ACCEPTABILITY } from '../release/descriptions.js'
import { SCT } from '../sctid.js'
import { conceptsIn, partsOfAll, tested, testsOf, type EclScope, type FilterScope } from './ecl-scope.js'
import { compares } from './refinement-test.js'
import { termTest, wordsOfTerm } from './search-terms.js'

type RowTest = (row: number) => boolean

/** Returns the concepts with a description that meets all filters. Inactive descriptions count only if a filter mentions the active status. */
export function* withDescription(scope: EclScope, filters: readonly DescriptionFilter[], concepts: Bitmap): Work<Bitmap> {
  const { descriptions } = scope.index
  const tests = yield* testsOf(scope, filters, rowTest)
  const speaksOfActive = filters.some(({ kind }) => kind === 'active')
  const accepts = (row: number): boolean => (speaksOfActive || descriptions.isActive(row)) && tests.every((test) => test(row))
  const candidates = speaksOfActive ? concepts : and(concepts, (yield* candidatesFor(scope, filters)) ?? concepts)
  const isDescribed = (concept: number): boolean => {
    const [from, to] = descriptions.rowsOf(concept)
    for (let row = from; row < to; row++) if (accepts(row)) return true
    return false
  }
  return yield* tested(candidates, isDescribed, partsOfAll(filters))
}

/** Returns the concepts found by the words of a term filter, and all concepts with a definition, whose words are not in the index. */
function* candidatesFor({ index }: EclScope, filters: readonly DescriptionFilter[]): Work<Bitmap | undefined> {
  const term = filters.find((filter) => filter.kind === 'term' && filter.comparison === '=')
  if (term?.kind !== 'term' || term.terms.some(({ match }) => match === 'wild')) return undefined
  let found = mayBeDefinition(filters) ? index.explained() : emptyBitmap(index.size)
  for (const one of term.terms) {
    let named = index.all()
    for (const word of wordsOfTerm(one).flatMap(filterWords)) {
      yield
      named = and(named, index.words.startingWith(word.start))
    }
    found = or(found, named)
  }
  return found
}

function mayBeDefinition(filters: readonly DescriptionFilter[]): boolean {
  const type = filters.find(({ kind }) => kind === 'type')
  if (type?.kind !== 'type' || type.comparison !== '=' || type.types.kind !== 'list') return true
  return type.types.concepts.some(({ id }) => id === SCT.definition)
}

function rowTest(scope: FilterScope, filter: DescriptionFilter): RowTest {
  const { descriptions } = scope.index
  switch (filter.kind) {
    case 'term':
      return termRowTest(scope, filter)
    case 'language':
      return listTest(filter.languages, filter, (row) => descriptions.language(row))
    case 'id':
      return listTest(filter.ids, filter, (row) => descriptions.id(row))
    case 'type':
      return typeTest(scope, filter)
    case 'dialect':
      return dialectTest(scope, filter)
    default:
      return componentRowTest(scope, filter)
  }
}

function listTest(list: readonly string[], { comparison }: { readonly comparison: string }, read: (row: number) => string): RowTest {
  const listed = new Set(list)
  return (row) => listed.has(read(row)) === (comparison === '=')
}

function termRowTest({ index }: FilterScope, { comparison, terms }: Extract<DescriptionFilter, { kind: 'term' }>): RowTest {
  const matches = termTest(terms)
  return (row) => matches(index.descriptions.term(row)) === (comparison === '=')
}

function componentRowTest(scope: FilterScope, filter: ComponentFilter): RowTest {
  const { descriptions } = scope.index
  const test = componentTest(scope, filter)
  return (row) =>
    test({ active: descriptions.isActive(row), module: descriptions.module(row), effectiveTime: descriptions.effectiveTime(row) })
}

const KIND_IDS = [SCT.fullySpecifiedName, SCT.synonym, SCT.definition] as const

function typeTest(scope: FilterScope, { comparison, types }: Extract<DescriptionFilter, { kind: 'type' }>): RowTest {
  const { ids, descriptions } = scope.index
  const listed = types.kind === 'list' ? new Set(types.concepts.map(({ id }) => id)) : undefined
  const selected = types.kind === 'list' ? undefined : conceptsIn(scope, types)
  const accepted = KIND_IDS.map((id) => listed?.has(id) ?? selected?.has(ids.find(id) ?? scope.index.size) ?? false)
  return (row) => (accepted[descriptions.kind(row)] ?? false) === (comparison === '=')
}

function dialectTest(scope: FilterScope, { comparison, dialects }: Extract<DescriptionFilter, { kind: 'dialect' }>): RowTest {
  const { index } = scope
  const accepting = dialects.flatMap((dialect) => {
    const isMeant = refsetTest(scope, dialect)
    const accepted = acceptedOf(dialect)
    return index.header.dialects.flatMap((id, number) => (isMeant(id) ? [{ number, accepted }] : []))
  })
  return (row) =>
    accepting.some(({ number, accepted }) => accepted.has(index.descriptions.acceptability(row, number))) === (comparison === '=')
}

/** Returns a test for the ids of the requested language reference sets. */
function refsetTest({ index, selected }: FilterScope, { refset }: Dialect): (id: string) => boolean {
  if ('constraint' in refset) {
    const meant = selected(refset.constraint)
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

/** Properties that components of all kinds have. */
export interface Component {
  readonly active: boolean
  readonly module: string
  /** `YYYYMMDD` as a number. */
  readonly effectiveTime: number
}

/** Returns a test for a filter that applies to components of any kind. */
export function componentTest(scope: FilterScope, filter: ComponentFilter): (component: Component) => boolean {
  if (filter.kind === 'active') return ({ active }) => filter.active === 'any' || active === filter.active
  if (filter.kind === 'effectiveTime') return ({ effectiveTime }) => compareTimes(filter, effectiveTime)
  const modules = conceptsIn(scope, filter.modules)
  return ({ module }) => modules.has(scope.index.ids.find(module) ?? scope.index.size) === (filter.comparison === '=')
}

/** Compares a time with several: one match is sufficient, except that `!=` excludes all of them. */
export function compareTimes(
  { comparison, times }: Pick<Extract<ComponentFilter, { kind: 'effectiveTime' }>, 'comparison' | 'times'>,
  found: number,
): boolean {
  const test = (time: string): boolean => compares(comparison, found, Number(time))
  return comparison === '!=' ? times.every(test) : times.some(test)
}
