import { quoted } from '../../errors/index.js'
import { isResourceType, type Condition, type SearchQuery } from '../../storage/index.js'
import { overBound, SEARCH_BOUNDS } from '../bounds.js'
import { anyOf } from './conditions.js'
import { invalidName, unknownParameter, unsupportedName, type FilterScope } from './filter-scope.js'
import type { SearchOptions } from '../search-options.js'
import type { SearchParameter } from '../parameters/search-parameter.js'
import { nearParameters, OF_EVERY_TYPE } from '../parameters/parameter-names.js'
import { parseTerm } from './term.js'

/** A reference leads to independent resources and to contained ones. */
const PLACES = 2

/** Parses a parameter that selects resources: `code:modifier`, a chain `subject:Patient.name`, or `_has:Observation:subject:code`. */
export async function parseFilter(scope: FilterScope, name: string, value: string): Promise<Condition> {
  if (name.startsWith('_has:')) return parseHas(scope, name, value)
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
  /** The reference, with a type where one is named. */
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

/** The target types that know the next parameter of the chain. */
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

/** Whether the reference of `_has:Type:reference:...` may lead to a type. What is not a reference is refused when it is parsed. */
function isReferred({ parameters }: SearchOptions, type: string, has: string): boolean {
  const [, source = '', code = ''] = has.split(':')
  const targets = parameters.find(source, code)?.targets ?? []
  return targets.length === 0 || targets.includes(type)
}

/** Whether a type can be searched by the parameter of this code. */
export function isSearchable({ parameters }: SearchOptions, type: string, code: string): boolean {
  return OF_EVERY_TYPE.has(code) || parameters.find(type, code) !== undefined
}

function deeper(scope: FilterScope): FilterScope {
  const depth = scope.depth + 1
  const most = scope.options.maxChain ?? SEARCH_BOUNDS.references
  if (depth > most) throw overBound(most, 'references in one parameter', scope.sent)
  return { ...scope, depth }
}
