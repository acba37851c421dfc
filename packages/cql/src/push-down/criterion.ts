import type { Criterion } from 'fhir-ops/internal/evaluate'
import { parseSearch } from 'fhir-ops/search'
import type { Condition } from 'fhir-ops/storage'
import type { RetrieveRequest } from '../compile/compiler.js'
import { conjunctsOf, filterOf } from '../compile/narrowing.js'
import { conditionsOf, isExactSearch } from '../data/retrieve-search.js'
import { isFunction } from '../elm/library.js'
import { nodeAt, nodesAt, textAt, typeOf, type ElmNode } from '../elm/node.js'
import { FHIRPATH_LANGUAGE } from '../measure/languages.js'
import { namedDefinition } from '../measure/loaded-measure.js'
import { definitionsOf, unitOf, unitOfElm, type Unit } from '../requirements/units.js'
import { subjectDecision } from './subject-criterion.js'
import { anyOf, bothOf, decidedBy, eitherOf, negation, onlyFor, UNKNOWN, type Deciding, type Decision, type Place } from './decision.js'

/**
 * Finds the subjects for which a criterion is true, and those for which it is false, as far as a search can decide: `exists` of retrieves by codes
 * and of queries over them, codes of the subject and its age, joined by `and`, `or` and `not`. Criteria must be compiled, and their terminology loaded.
 */
export async function decisionOf(deciding: Deciding, criterion: Criterion): Promise<Decision> {
  if (criterion.language === FHIRPATH_LANGUAGE) return UNKNOWN
  const { loaded, expressions } = deciding.prepared
  const inline = expressions.get(criterion.expression)
  const { at = -1, name = '' } = inline === undefined ? (namedDefinition(loaded, criterion) ?? {}) : {}
  const library = inline === undefined ? loaded.libraries[at]?.library : loaded.expressions
  if (library === undefined) return UNKNOWN
  return await definition({ ...deciding, loaded: library, unit: unitOfElm(library.elm) }, inline?.name ?? name)
}

async function definition(place: Place, name: string): Promise<Decision> {
  const expression = definedAs(place.unit, name)
  return expression === undefined ? UNKNOWN : await decided(place, expression)
}

/** The expression of a definition that is evaluated for each subject. */
function definedAs(unit: Unit, name: string): ElmNode | undefined {
  const [def, ...overloads] = definitionsOf(unit, name)
  if (def === undefined || overloads.length > 0 || isFunction(def) || textAt(def, 'context') === 'Unfiltered') return undefined
  return nodeAt(def, 'expression')
}

/** Decides a node. The recursion ends, because the compiler refused recursive definitions and deep nesting. */
async function decided(place: Place, node: ElmNode): Promise<Decision> {
  const operands = nodesAt(node, 'operand')
  const [one = {}, other = {}] = operands
  switch (typeOf(node)) {
    case 'And':
      return bothOf(await decided(place, one), await decided(place, other))
    case 'Or':
      return eitherOf(await decided(place, one), await decided(place, other))
    case 'Not':
      return negation(await decided(place, one))
    case 'ExpressionRef': {
      const target = followed(place, node)
      return target === undefined ? UNKNOWN : await decided(target.place, target.node)
    }
    case 'Exists':
      return await exists(place, one)
    default:
      return await subjectDecision(place, node)
  }
}

interface Followed {
  readonly place: Place
  readonly node: ElmNode
}

function followed(place: Place, node: ElmNode): Followed | undefined {
  const unit = unitOf({ loaded: place.loaded, url: undefined, dependsOn: new Set() }, node, place.unit)
  const target = unit === undefined ? undefined : definedAs(unit, textAt(node, 'name') ?? '')
  return unit === undefined || target === undefined ? undefined : { place: { ...place, unit }, node: target }
}

/** Decides `exists` of a list of resources or of the rows of a query. */
async function exists(place: Place, node: ElmNode): Promise<Decision> {
  switch (typeOf(node)) {
    case 'ExpressionRef': {
      const target = followed(place, node)
      return target === undefined ? UNKNOWN : await exists(target.place, target.node)
    }
    case 'Retrieve':
      return await found(place, node, 0)
    case 'Query': {
      const [source = {}, ...others] = nodesAt(node, 'source')
      const retrieve = nodeAt(source, 'expression')
      // An aggregate returns its starting value if there are no rows.
      const isOfRows = others.length === 0 && nodeAt(node, 'aggregate') === undefined
      if (retrieve === undefined || typeOf(retrieve) !== 'Retrieve' || !isOfRows) return UNKNOWN
      const filter = filterOf(source, nodeAt(node, 'where'))
      const isPlain = PARTS.every((part) => node[part] === undefined || nodesAt(node, part).length === 0)
      return await found(place, retrieve, isPlain ? (filter === undefined ? 0 : conjunctsOf(filter.where).length) : undefined)
    }
    default:
      return UNKNOWN
  }
}

/** Parts of a query that may drop rows, turn them into null, or fail. */
const PARTS = ['let', 'relationship', 'return', 'sort']

/**
 * Decides whether a retrieve finds a resource that passes the condition of its query. This is exact if search parameters cover all of it; otherwise
 * only those subjects are known for which it finds nothing.
 *
 * @param conjuncts Number of conditions of the query; `undefined` if it has other parts.
 */
async function found(place: Place, node: ElmNode, conjuncts: number | undefined): Promise<Decision> {
  const request = place.prepared.requestOf(node)
  const condition = request === undefined ? undefined : await referredBy(place, request)
  if (request === undefined || condition === undefined) return UNKNOWN
  const { search, prepared } = place
  const asksMore = conjuncts === undefined || nodeAt(node, 'dateRange') !== undefined
  const hasCodes = (nodeAt(node, 'codes') === undefined) === (request.codePath === undefined)
  return !asksMore && hasCodes && isExactSearch(search, prepared.model, request, conjuncts) ? decidedBy(condition) : onlyFor(condition)
}

/** Condition on subjects to which a resource refers that the retrieve may find; `undefined` for retrieves that search in another way. */
async function referredBy({ ctx, search, prepared, subjectType }: Place, request: RetrieveRequest): Promise<Condition | undefined> {
  const { type, unfiltered, context } = request
  if (unfiltered || context !== undefined || type === subjectType) return undefined
  const params = prepared.links.paramsOf(type)
  if (params.length === 0) return undefined
  ctx.authorize?.('search', type)
  const { query } = await parseSearch(type, conditionsOf(search, prepared.model, request), search)
  return anyOf(...params.map((param) => ({ kind: 'referredBy' as const, param, query: { type, where: query.where } })))
}
