import { requirementConditions } from 'fhir-ops/internal/evaluate'
import { parseSearch } from 'fhir-ops/search'
import type { SearchPair } from 'fhir-ops/internal/search'
import type { Condition } from 'fhir-ops/storage'
import { definitionsNamed, isHelperCall } from '../elm/library.js'
import { localName, nodeAt, nodesAt, textAt, typeOf, type ElmNode } from '../elm/node.js'
import { isExactElement } from '../data/retrieve-search.js'
import { parameterType } from '../libraries/declared.js'
import { DAY } from '../values/temporal.js'
import { isInterval, isTemporal, type Value } from '../values/value.js'
import { allOf, negated, negation, UNKNOWN, type Decision, type Place } from './decision.js'

/** Decides a comparison with an element of the subject: a code (`Patient.gender = 'female'`), or the age at a date of the request. */
export async function subjectDecision(place: Place, node: ElmNode): Promise<Decision> {
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
