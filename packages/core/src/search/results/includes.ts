import { OperationError, quoted } from '../../errors/index.js'
import { overBound, SEARCH_BOUNDS } from '../bounds.js'
import { isResourceType } from '../../storage/index.js'
import type { SearchPair } from '../search-options.js'
import { nearParameters } from '../parameters/near-parameters.js'
import type { SearchParameter, SearchParameters } from '../parameters/search-parameter.js'

/** Resources that a search gives beside its matches: those that are referred to, or those that refer (`revinclude`). */
export interface Include {
  readonly direction: 'include' | 'revinclude'
  /** Type of the resources that refer. */
  readonly source: string
  /** Codes of the reference parameters. */
  readonly params: readonly string[]
  /** Type of what is referred to; any when absent. */
  readonly target?: string
  /** True when it holds for what was included, too, until nothing new comes. */
  readonly iterate: boolean
}

/** Whether a parameter is `_include` or `_revinclude`, with any modifier. */
export function isInclude(name: string): boolean {
  return DIRECTIONS.has(name.split(':', 1)[0] ?? '')
}

const DIRECTIONS: ReadonlyMap<string, Include['direction']> = new Map([
  ['_include', 'include'],
  ['_revinclude', 'revinclude'],
])

/**
 * Reads `_include` and `_revinclude` of a search over these types: `Type:parameter`, `Type:parameter:Target`, `Type:*` and, for `_include`, `*`.
 *
 * @throws {OperationError} `search-invalid` for what no include is, and for one that could never give anything; `search-unsupported` for
 *   references by canonical; `too-costly` for more than 64 of them.
 * @see https://hl7.org/fhir/R4/search.html#revinclude
 */
export function readIncludes(types: readonly string[], pairs: readonly SearchPair[], parameters: SearchParameters): readonly Include[] {
  if (pairs.length > SEARCH_BOUNDS.includes) throw overBound(SEARCH_BOUNDS.includes, 'parameters _include and _revinclude')
  return pairs.flatMap(([name, value]) => {
    const { direction, iterate } = readName(name, value)
    if (value === '*' && (iterate || direction === 'revinclude')) throw refused(name, value, 'it must name a type')
    const values = value === '*' ? types.map((type) => `${type}:*`) : [value]
    const includes = values.flatMap((one) => includesOf(types, { ...readValue(name, one), name, direction, iterate }, parameters))
    if (includes.length === 0) throw refused(name, value, 'it cannot include anything in this search')
    return includes
  })
}

/** The include that is asked for; none where it could never give anything. */
function includesOf(types: readonly string[], asked: Asked, parameters: SearchParameters): readonly Include[] {
  const { direction, iterate, source, target } = asked
  const found = parametersFor(asked, parameters).filter((parameter) => leadsTo(parameter, target))
  if (found.length === 0 || (!iterate && !types.some((type) => isAbout(type, asked, found)))) return []
  return [{ direction, source, params: found.map(({ code }) => code), iterate, ...(target !== undefined && { target }) }]
}

function readName(name: string, value: string): Pick<Include, 'direction' | 'iterate'> {
  const [head = '', modifier, ...more] = name.split(':')
  if (more.length > 0 || (modifier ?? 'iterate') !== 'iterate') throw refused(name, value, 'its only modifier is iterate')
  return { direction: DIRECTIONS.get(head) ?? 'include', iterate: modifier === 'iterate' }
}

function readValue(name: string, value: string): AskedValue {
  const [source = '', code = '', target, ...more] = value.split(':')
  const isType = isResourceType(source) && (target === undefined || isResourceType(target))
  if (!isType || code === '' || more.length > 0) throw refused(name, value, 'it is not of the form Type:parameter')
  return { value, source, code, target }
}

interface AskedValue {
  readonly value: string
  readonly source: string
  readonly code: string
  readonly target: string | undefined
}

interface Asked extends AskedValue, Pick<Include, 'direction' | 'iterate'> {
  readonly name: string
}

function parametersFor({ name, value, source, code }: Asked, parameters: SearchParameters): readonly SearchParameter[] {
  if (code === '*') return parameters.of(source).filter(({ type, canonical }) => type === 'reference' && !canonical)
  const parameter = parameters.find(source, code)
  if (parameter?.type !== 'reference') {
    const hint = nearParameters(parameters, { code, types: [source], only: ({ type, canonical }) => type === 'reference' && !canonical })
    throw refused(name, value, `${source} has no reference parameter ${quoted(code)}`, hint)
  }
  if (!parameter.canonical) return [parameter]
  throw new OperationError('search-unsupported', `Search parameter ${quoted(name)} follows ${quoted(code)}, which refers by canonical.`, {
    expression: [name],
  })
}

function leadsTo({ targets }: SearchParameter, type: string | undefined): boolean {
  return type === undefined || targets.length === 0 || targets.includes(type)
}

/** Whether an include begins, or a revinclude ends, at the type that is searched. */
function isAbout(type: string, { direction, source, target }: Asked, found: readonly SearchParameter[]): boolean {
  if (direction === 'include') return source === type
  return (target ?? type) === type && found.some((parameter) => leadsTo(parameter, type))
}

function refused(name: string, value: string, problem: string, hint = ''): OperationError {
  return new OperationError('search-invalid', `Search parameter ${quoted(name)} has the value ${quoted(value)}: ${problem}.${hint}`, {
    expression: [name],
  })
}
