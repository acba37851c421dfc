import { quoted, OperationError } from '../../errors/index.js'
import { isResourceType, type Condition, type SearchQuery, isResourceId } from '../../storage/index.js'
import { overBound, SEARCH_BOUNDS } from '../bounds.js'
import { anyOf, allOf, entryCondition } from './conditions.js'
import { invalidName, unknownParameter, unsupportedName, type FilterScope, invalidValue, type Ask, type SearchKind } from '../kinds/kind.js'
import type { SearchOptions } from '../search-options.js'
import { nearParameters, OF_EVERY_TYPE, type SearchParameter } from '../parameters/search-parameter.js'
import { tupleTests } from '../kinds/composite.js'
import { kindOf } from '../kinds/registry.js'
import { splitUnescaped, dateInterval, splitPrefix, type Interval, type SearchPrefix } from '../written-values.js'

/** A reference leads to independent or to contained resources. */
const PLACES = 2

/** Parses a parameter that selects resources: `code:modifier`, a chain `subject:Patient.name`, or `_has:Observation:subject:code`. */
export async function parseFilter(scope: FilterScope, name: string, value: string): Promise<Condition> {
  if (name === '_has' || name.startsWith('_has:')) return parseHas(scope, name, value)
  const dot = name.indexOf('.')
  return dot < 0 ? parseTerm(scope, name, value) : parseChain(scope, { head: name.slice(0, dot), rest: name.slice(dot + 1) }, value)
}

async function parseHas(scope: FilterScope, name: string, value: string): Promise<Condition> {
  const [, type = '', reference = '', ...rest] = name.split(':')
  if (!isResourceType(type) || rest.length === 0) throw invalidName(scope, 'is not of the form _has:Type:reference:parameter')
  const parameter = referenceParameter({ ...scope, type }, reference)
  if (parameter.targets.length > 0 && !parameter.targets.includes(scope.type)) {
    throw invalidName(scope, `asks for ${type} by ${quoted(reference)}, which does not refer to ${scope.type}`)
  }
  const where = await parseFilter({ ...deeper(scope), type }, rest.join(':'), value)
  return { kind: 'referredBy', param: parameter.code, query: { type, where } }
}

interface ChainName {
  /** The reference, with a type if it names one. */
  readonly head: string
  readonly rest: string
}

async function parseChain(scope: FilterScope, { head, rest }: ChainName, value: string): Promise<Condition> {
  const [code = '', type, ...more] = head.split(':')
  if (more.length > 0 || rest === '') throw invalidName(scope, 'is not a chain of parameters')
  const parameter = referenceParameter(scope, code)
  const types = type === undefined ? chainTypes(scope, parameter, rest) : [chainType(scope, parameter, type)]
  const next = deeper(scope)
  const ways = scope.ways * types.length * PLACES
  if (ways > SEARCH_BOUNDS.ways)
    throw overBound(SEARCH_BOUNDS.ways, 'ways along one chain; name the types that it leads through', scope.sent)
  const conditions: Condition[] = []
  for (const target of types) {
    const query: SearchQuery = { type: target, where: await parseFilter({ ...next, type: target, ways }, rest, value) }
    conditions.push({ kind: 'refersTo', param: parameter.code, query })
  }
  return anyOf(conditions)
}

function referenceParameter(scope: FilterScope, code: string): SearchParameter {
  const parameter = scope.options.parameters.find(scope.type, code)
  if (parameter === undefined) throw unknownParameter(scope, code)
  if (parameter.type !== 'reference') throw invalidName(scope, `follows ${quoted(code)}, which is not a reference`)
  if (parameter.canonical) throw unsupportedName(scope, `follows ${quoted(code)}, which refers by canonical`)
  return parameter
}

function chainType(scope: FilterScope, { code, targets }: SearchParameter, type: string): string {
  if (!isResourceType(type)) throw invalidName(scope, `names ${quoted(type)}, which is not a resource type`)
  if (targets.length > 0 && !targets.includes(type)) throw invalidName(scope, `follows ${quoted(code)} to ${type}, where it does not lead`)
  return type
}

/** Returns the target types that have the next parameter of the chain. */
function chainTypes(scope: FilterScope, { code, targets }: SearchParameter, rest: string): readonly string[] {
  if (targets.length === 0) throw invalidName(scope, `must name the type that ${quoted(code)} leads to (${code}:Type.${rest})`)
  const next = /^[^.:]*/.exec(rest)?.[0] ?? ''
  const known = targets.filter((type) =>
    next === '_has' ? isReferred(scope.options, type, rest) : isSearchable(scope.options, type, next),
  )
  if (known.length > 0) return known
  const hint = nearParameters(scope.options.parameters, { code: next, types: targets, others: OF_EVERY_TYPE })
  throw invalidName(scope, `ends in ${quoted(next)}, which is not a parameter of ${targets.join(', ')}`, hint)
}

/** True if the reference of `_has:Type:reference:...` may lead to a type. A parameter that is not a reference is refused when it is parsed. */
function isReferred({ parameters }: SearchOptions, type: string, has: string): boolean {
  const [, source = '', code = ''] = has.split(':')
  const targets = parameters.find(source, code)?.targets ?? []
  return targets.length === 0 || targets.includes(type)
}

/** True if a type can be searched by the parameter with this code. */
export function isSearchable({ parameters }: SearchOptions, type: string, code: string): boolean {
  return OF_EVERY_TYPE.has(code) || parameters.find(type, code) !== undefined
}

function deeper(scope: FilterScope): FilterScope {
  const depth = scope.depth + 1
  const most = scope.options.maxChain ?? SEARCH_BOUNDS.references
  if (depth > most) throw overBound(most, 'references in one parameter', scope.sent)
  return { ...scope, depth }
}

/** Parses one parameter without chain: `code=a,b` or `code:modifier=a,b`, where a comma separates alternatives. */
async function parseTerm(scope: FilterScope, name: string, value: string): Promise<Condition> {
  const [code = '', modifier, ...more] = name.split(':')
  if (more.length > 0) throw invalidName(scope, 'has more than one modifier')
  const asks = asksOf(scope, modifier, value)
  if (modifier === 'missing' && IN_EVERY_RESOURCE.has(code)) return parseMissing({ code, present: allOf([]) }, asks)
  if (code === '_id') return parseId(scope, modifier, asks)
  if (code === '_lastUpdated') return parseLastUpdated(scope, modifier, asks)
  if (code === '_list') return parseList(scope, modifier, asks)
  const parameter = scope.options.parameters.find(scope.type, code)
  if (parameter === undefined) throw unknownParameter(scope, code)
  return parseAsks(scope, parameter, asks)
}

/** Parameters that every stored resource has a value for. */
const IN_EVERY_RESOURCE: ReadonlySet<string> = new Set(['_id', '_lastUpdated'])

async function parseAsks(scope: FilterScope, parameter: SearchParameter, asks: readonly Ask[]): Promise<Condition> {
  const modifier = asks[0]?.modifier
  const { code } = parameter
  if (modifier === 'missing')
    return parseMissing({ code, present: anyOf(indexedAs(parameter).map((param) => ({ kind: 'entry', param, all: [] }))) }, asks)
  const kind = kindOf(parameter.kind)
  const resolver = kind?.resolvers?.get(modifier ?? '')
  if (resolver !== undefined) return resolver(scope, parameter, asks)
  const own = kind?.entryModifiers?.find(({ name, applies }) => name === modifier && applies(parameter))
  if (own !== undefined) return anyOf(asks.map((ask) => entryCondition(`${code}:${own.name}`, own.alternatives(ask))))
  if (modifier !== undefined && !isTaken(kind, modifier, parameter)) throw refusedModifier(scope, parameter.type, modifier)
  const found = anyOf(asks.map((ask) => valueCondition(parameter, ask)))
  return modifier === 'not' ? { kind: 'not', condition: found } : found
}

function isTaken(kind: SearchKind | undefined, modifier: string, parameter: SearchParameter): boolean {
  if (kind === undefined) return false
  return kind.modifiers.includes(modifier) || (modifier === 'not' && kind.negatable) || kind.takes?.(modifier, parameter) === true
}

function asksOf({ sent, options, values }: FilterScope, modifier: string | undefined, value: string): readonly Ask[] {
  const now = (options.now?.() ?? new Date()).getTime()
  const whole: Ask = { name: sent, value, modifier, targets: [], base: options.base, now }
  const parts = splitUnescaped(value, ',')
  values.add(parts.length)
  if (parts.includes('')) throw invalidValue(whole, 'a value, or values separated by commas')
  if (parts.some((part) => part.length > SEARCH_BOUNDS.valueLength))
    throw overBound(SEARCH_BOUNDS.valueLength, 'characters in one value', sent)
  return parts.map((part) => ({ ...whole, value: part }))
}

interface Presence {
  readonly code: string
  /** The condition that the parameter has a value. */
  readonly present: Condition
}

function parseMissing({ code, present }: Presence, [ask, other]: readonly Ask[]): Condition {
  if (ask === undefined || other !== undefined || (ask.value !== 'true' && ask.value !== 'false')) {
    throw new OperationError('search-invalid', `The modifier 'missing' of ${quoted(code)} takes true or false.`, {
      expression: [ask?.name ?? code],
    })
  }
  return ask.value === 'true' ? { kind: 'not', condition: present } : present
}

function valueCondition(parameter: SearchParameter, ask: Ask): Condition {
  const { code, kind: name, targets, components } = parameter
  if (components.length > 0) {
    const tests = tupleTests(components, ask)
    return anyOf(indexedAs(parameter).map((param) => entryCondition(param, tests)))
  }
  const kind = kindOf(name)
  return kind?.condition?.(code, ask) ?? entryCondition(code, kind?.alternatives({ ...ask, targets }) ?? [])
}

/** Returns the parameters whose entries the parameter uses. */
function indexedAs({ code, unites }: Pick<SearchParameter, 'code' | 'unites'>): readonly string[] {
  return unites.length > 0 ? unites : [code]
}

const UNSUPPORTED: ReadonlySet<string> = new Set(['text', 'above', 'below'])

function refusedModifier(scope: FilterScope, type: string, modifier: string): OperationError {
  if (!UNSUPPORTED.has(modifier)) return invalidName(scope, `has the modifier ${quoted(modifier)}, which a ${type} parameter does not take`)
  return unsupportedName(scope, `has the modifier ${quoted(modifier)}, which is not supported`)
}

/** Parses `_id`, which may have the modifier `not`. */
function parseId(scope: FilterScope, modifier: string | undefined, asks: readonly Ask[]): Condition {
  const wrong = asks.find(({ value }) => !isResourceId(value))
  if (wrong !== undefined) throw invalidValue(wrong, 'an id')
  const condition: Condition = { kind: 'id', ids: asks.map(({ value }) => value) }
  if (modifier === 'not') return { kind: 'not', condition }
  if (modifier !== undefined) throw invalidName(scope, `has the modifier '${modifier}', which _id does not take`)
  return condition
}

/**
 * Parses `_list`: resources in one of these Lists, whatever the List states about the item.
 *
 * @see https://hl7.org/fhir/R4/search.html#list
 */
function parseList(scope: FilterScope, modifier: string | undefined, asks: readonly Ask[]): Condition {
  if (modifier !== undefined) throw invalidName(scope, `has the modifier '${modifier}', which _list does not take`)
  const ids = asks.map(({ value }) => value)
  if (ids.some((id) => id.startsWith('$'))) throw unsupportedName(scope, 'names a functional list, which is not supported')
  const wrong = asks.find(({ value }) => !isResourceId(value))
  if (wrong !== undefined) throw invalidValue(wrong, 'the id of a List')
  if (scope.options.parameters.find('List', ITEM) === undefined) throw unsupportedName(scope, `needs the parameter '${ITEM}' of List`)
  return { kind: 'referredBy', param: ITEM, query: { type: 'List', where: { kind: 'id', ids } } }
}

const ITEM = 'item'

/** Parses `_lastUpdated` with prefixes. A resource is updated at an instant, so `sa` is the same as `gt`, and `eb` the same as `lt`. */
function parseLastUpdated(scope: FilterScope, modifier: string | undefined, asks: readonly Ask[]): Condition {
  if (modifier !== undefined) throw invalidName(scope, `has the modifier '${modifier}', which _lastUpdated does not take`)
  return anyOf(asks.map(updatedCondition))
}

function updatedCondition(ask: Ask): Condition {
  const [prefix, text] = splitPrefix(ask.value)
  const interval = dateInterval(text)
  if (interval === undefined) throw invalidValue(ask, 'a date')
  return CONDITIONS[prefix](interval, Math.abs(ask.now - interval.low) / 10)
}

/** @param slack Tolerance of `ap` on both sides, in milliseconds. */
type UpdatedCondition = (interval: Interval, slack: number) => Condition

const after: UpdatedCondition = ({ high }) => ({ kind: 'lastUpdated', from: high + 1 })
const before: UpdatedCondition = ({ low }) => ({ kind: 'lastUpdated', to: low - 1 })

const CONDITIONS: Readonly<Record<SearchPrefix, UpdatedCondition>> = {
  eq: ({ low, high }) => ({ kind: 'lastUpdated', from: low, to: high }),
  ne: ({ low, high }) => ({ kind: 'not', condition: { kind: 'lastUpdated', from: low, to: high } }),
  gt: after,
  sa: after,
  lt: before,
  eb: before,
  ge: ({ low }) => ({ kind: 'lastUpdated', from: low }),
  le: ({ high }) => ({ kind: 'lastUpdated', to: high }),
  ap: ({ low, high }, slack) => ({ kind: 'lastUpdated', from: low - slack, to: high + slack }),
}
