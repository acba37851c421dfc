import { pinnedVersions, requirementConditions, type Criterion } from 'fhir-ops/internal/evaluate'
import { parseSearch, type SearchOptions } from 'fhir-ops/search'
import type { Condition } from 'fhir-ops/storage'
import type { SearchPair } from 'fhir-ops/internal/search'
import type { RetrieveRequest } from '../compile/compiler.js'
import { conjunctsOf, filterOf } from '../compile/narrowing.js'
import { conditionsOf, isExactSearch, isExactElement } from '../data/retrieve.js'
import { isFunction, definitionsNamed, isHelperCall } from '../elm/library.js'
import { nodeAt, nodesAt, textAt, typeOf, type ElmNode, localName } from '../elm/node.js'
import { FHIRPATH_LANGUAGE } from '../measure/languages.js'
import { namedDefinition } from '../measure/loaded-measure.js'
import { definitionsOf, unitOf, unitOfElm, type Unit } from '../requirements/units.js'
import { parameterType } from '../libraries/declared.js'
import { DAY } from '../values/temporal.js'
import { isInterval, isTemporal, type Value } from '../values/value.js'
import type { OperationContext } from 'fhir-ops/context'
import type { LoadedLibrary } from '../libraries/content.js'
import type { Prepared } from '../measure/prepare.js'

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

const NOT_PINNED = pinnedVersions([])

interface Followed {
  readonly place: Place
  readonly node: ElmNode
}

function followed(place: Place, node: ElmNode): Followed | undefined {
  const unit = unitOf({ loaded: place.loaded, url: undefined, pinned: NOT_PINNED, dependsOn: new Set() }, node, place.unit)
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

/** Decides a comparison with an element of the subject: a code (`Patient.gender = 'female'`), or the age at a date of the request. */
async function subjectDecision(place: Place, node: ElmNode): Promise<Decision> {
  const [left, right] = nodesAt(node, 'operand')
  if (left === undefined || right === undefined) return UNKNOWN
  if (typeOf(node) === 'Equal') return await ofCode(place, left, right)
  const comparison = AGES.get(typeOf(node))
  const years =
    typeOf(right) === 'Literal' && localName(textAt(right, 'valueType') ?? '') === 'Integer' ? Number(textAt(right, 'value')) : NaN
  if (comparison === undefined || !Number.isInteger(years)) return UNKNOWN
  const isOlder = await ofAge(place, left, years + comparison.more)
  return comparison.isNegated ? negation(isOlder) : isOlder
}

/** Comparisons of an age with N years, as "at least N + `more` years" or its negation. */
const AGES: ReadonlyMap<string, { readonly more: 0 | 1; readonly isNegated: boolean }> = new Map([
  ['GreaterOrEqual', { more: 0, isNegated: false }],
  ['Greater', { more: 1, isNegated: false }],
  ['Less', { more: 0, isNegated: true }],
  ['LessOrEqual', { more: 1, isNegated: true }],
])

/** Decides a comparison with a code. Without the element, the comparison is null. */
async function ofCode(place: Place, left: ElmNode, right: ElmNode): Promise<Decision> {
  const { search, subjectType: type, prepared } = place
  const path = elementOfSubject(place, left)
  const code = typeOf(right) === 'Literal' && localName(textAt(right, 'valueType') ?? '') === 'String' ? textAt(right, 'value') : undefined
  if (path === undefined || code === undefined || code === '') return UNKNOWN
  const filter = { path, code: [{ code }] }
  if (!isExactElement(search, prepared.model, type, filter)) return UNKNOWN
  const [pair] = requirementConditions(search, { type, codeFilter: [filter] })
  if (pair === undefined) return UNKNOWN
  const yes = await conditionOf(place, [pair])
  const isThere = await conditionOf(place, [[`${pair[0]}:missing`, 'false']])
  return { yes, no: allOf(isThere, negated(yes)), isSafe: true, isWhole: false }
}

const MARGIN_MS = 2 * 86_400_000

/** Decides whether subjects have reached an age at a date; not for births on about that day, and for dates that are not precise enough. */
async function ofAge(place: Place, node: ElmNode, years: number): Promise<Decision> {
  const [born, at] = nodesAt(node, 'operand')
  const isYears = typeOf(node) === 'CalculateAgeAt' && textAt(node, 'precision') === 'Year'
  if (!isYears || born === undefined || at === undefined || elementOfSubject(place, born) !== 'birthDate') return UNKNOWN
  const moment = momentOf(place, at)
  const day = moment === undefined ? undefined : new Date(moment)
  day?.setUTCFullYear(day.getUTCFullYear() - years)
  const parameter = place.search.parameters.find(place.subjectType, 'birthdate')
  const looksAtBirth = parameter?.expression.trim() === `${place.subjectType}.birthDate`
  if (day === undefined || day.getUTCFullYear() < FIRST_YEAR || day.getUTCFullYear() > LAST_YEAR || !looksAtBirth) return UNKNOWN
  const [before, after] = [new Date(day.getTime() - MARGIN_MS), new Date(day.getTime() + MARGIN_MS)]
  return {
    yes: await conditionOf(place, [['birthdate', `eb${dayOf(before)}`]]),
    no: await conditionOf(place, [['birthdate', `sa${dayOf(after)}`]]),
    isSafe: true,
    isWhole: false,
  }
}

/** Limits for years, well within those that a search can name. */
const FIRST_YEAR = 1600
const LAST_YEAR = 9000

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10)
}

/** The start or end of a period of the request, if it is known to the day: an age at any other date is uncertain. */
function momentOf({ unit, prepared }: Place, node: ElmNode): number | undefined {
  const type = typeOf(node)
  const reference = nodeAt(node, 'operand') ?? nodesAt(node, 'operand')[0]
  if ((type !== 'Start' && type !== 'End') || reference === undefined || typeOf(reference) !== 'ParameterRef') return undefined
  const name = textAt(reference, 'name') ?? ''
  const [def] = textAt(reference, 'libraryName') === undefined ? definitionsNamed(unit.node, 'parameters', name) : []
  const value: Value = def === undefined ? null : (prepared.parameter(name, parameterType(def)) ?? null)
  const end = isInterval(value) ? (type === 'Start' ? value.low : value.high) : null
  return isTemporal(end) && end.kind !== 'time' && end.precision >= DAY ? end.low : undefined
}

const CONVERSIONS: ReadonlySet<string> = new Set(['ToString', 'ToDate', 'ToDateTime'])

/** The element directly below the subject that a node reads, as it is or converted: `Patient.birthDate.value`. */
function elementOfSubject(place: Place, node: ElmNode): string | undefined {
  const type = typeOf(node)
  const [operand] = nodesAt(node, 'operand')
  if (isHelperCall(place.unit.node, node))
    return operand !== undefined && CONVERSIONS.has(textAt(node, 'name') ?? '') ? elementOfSubject(place, operand) : undefined
  if (CONVERSIONS.has(type)) return operand === undefined ? undefined : elementOfSubject(place, operand)
  const source = nodeAt(node, 'source')
  if (type !== 'Property' || source === undefined) return undefined
  const path = textAt(node, 'path') ?? ''
  if (path === 'value') return elementOfSubject(place, source)
  return isSubject(place, source) ? path.replace(/\.value$/, '') : undefined
}

/** True for the reference `Patient`, which every library with that context defines. */
function isSubject({ unit, subjectType }: Place, node: ElmNode): boolean {
  if (typeOf(node) !== 'ExpressionRef' || textAt(node, 'libraryName') !== undefined || textAt(node, 'name') !== subjectType) return false
  const [def] = definitionsNamed(unit.node, 'statements', subjectType)
  return def !== undefined && textAt(def, 'context') === subjectType && typeOf(nodeAt(def, 'expression') ?? {}) === 'SingletonFrom'
}

async function conditionOf({ search, subjectType }: Place, pairs: readonly SearchPair[]): Promise<Condition> {
  return (await parseSearch(subjectType, pairs, search)).query.where
}

/** Context for deciding criteria. */
export interface Deciding {
  readonly ctx: OperationContext
  readonly search: SearchOptions
  readonly prepared: Prepared
  /** Type of the subjects. */
  readonly subjectType: string
}

/** The place of a node that is decided. */
interface Place extends Deciding {
  readonly loaded: LoadedLibrary
  readonly unit: Unit
}

/** The subjects for which searches decide a criterion, without reading anything. */
export interface Decision {
  /** Subjects for which it is true. */
  readonly yes: Condition
  /** Subjects for which it is false. For all others it is unknown or null. */
  readonly no: Condition
  /** Whether its evaluation cannot fail. */
  readonly isSafe: boolean
  /** Whether it is known for all subjects. */
  readonly isWhole: boolean
}

const NOBODY: Condition = { kind: 'or', conditions: [] }

/** Nothing is known. */
const UNKNOWN: Decision = { yes: NOBODY, no: NOBODY, isSafe: false, isWhole: false }

/** True for subjects that meet a condition, and false for all others. */
function decidedBy(yes: Condition): Decision {
  return { yes, no: negated(yes), isSafe: true, isWhole: true }
}

/** False for subjects that do not meet a condition; unknown for the others. */
function onlyFor(perhaps: Condition): Decision {
  return { ...UNKNOWN, no: negated(perhaps) }
}

/** `A and B`: B is not evaluated for subjects for which A is false. */
function bothOf(one: Decision, other: Decision): Decision {
  const yes = allOf(one.yes, other.yes)
  if (one.isWhole && other.isWhole) return decidedBy(yes)
  return {
    yes,
    no: anyOf(one.no, one.isSafe ? other.no : allOf(one.yes, other.no)),
    isSafe: one.isSafe && other.isSafe,
    isWhole: false,
  }
}

/** `A or B`: B is not evaluated for subjects for which A is true. */
function eitherOf(one: Decision, other: Decision): Decision {
  return negation(bothOf(negation(one), negation(other)))
}

/** `not A`. */
function negation({ yes, no, ...rest }: Decision): Decision {
  return { yes: no, no: yes, ...rest }
}

/** The conjunction of conditions. */
export function allOf(...conditions: readonly Condition[]): Condition {
  const [only] = conditions
  if (conditions.some(isOfNobody)) return NOBODY
  return conditions.length === 1 && only !== undefined ? only : { kind: 'and', conditions }
}

/** The disjunction of conditions. */
export function anyOf(...conditions: readonly Condition[]): Condition {
  const others = conditions.filter((condition) => !isOfNobody(condition))
  const [only] = others
  return others.length === 1 && only !== undefined ? only : { kind: 'or', conditions: others }
}

/** Whether no resource can meet a condition. */
export function isOfNobody(condition: Condition): boolean {
  return condition.kind === 'or' && condition.conditions.length === 0
}

/** The negation of a condition. */
export function negated(condition: Condition): Condition {
  return condition.kind === 'not' ? condition.condition : { kind: 'not', condition }
}
