import { OperationError, quoted } from '../errors/index.js'
import { isResourceType } from '../storage/index.js'
import type { SearchPair } from './search-pair.js'
import type { SearchParameter, SearchParameters } from './search-parameters.js'

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
 * Reads `_include` and `_revinclude`: `Type:parameter`, `Type:parameter:Target`, `Type:*` and, for `_include`, `*`.
 *
 * @throws {OperationError} `search-invalid` for what no include is, and for one that could never give anything; `search-unsupported` for
 *   references by canonical.
 * @see https://hl7.org/fhir/R4/search.html#revinclude
 */
export function readIncludes(type: string, pairs: readonly SearchPair[], parameters: SearchParameters): readonly Include[] {
  return pairs.map((pair) => readInclude(type, pair, parameters))
}

function readInclude(type: string, [name, value]: SearchPair, parameters: SearchParameters): Include {
  const { direction, iterate } = readName(name, value)
  if (value === '*' && (iterate || direction === 'revinclude')) throw refused(name, value, 'it must name a type')
  const asked = readValue(name, value === '*' ? `${type}:*` : value)
  const { source, target } = asked
  const found = parametersFor(name, asked, parameters).filter((parameter) => leadsTo(parameter, target))
  const include = { direction, source, params: found.map(({ code }) => code), iterate, ...(target !== undefined && { target }) }
  if (found.length === 0 || (!iterate && !isAbout(type, include, found))) throw refused(name, value, `it gives nothing for ${type}`)
  return include
}

function readName(name: string, value: string): Pick<Include, 'direction' | 'iterate'> {
  const [head = '', modifier, ...more] = name.split(':')
  if (more.length > 0 || (modifier ?? 'iterate') !== 'iterate') throw refused(name, value, 'its only modifier is iterate')
  return { direction: DIRECTIONS.get(head) ?? 'include', iterate: modifier === 'iterate' }
}

function readValue(name: string, value: string): Asked {
  const [source = '', code = '', target, ...more] = value.split(':')
  const isType = isResourceType(source) && (target === undefined || isResourceType(target))
  if (!isType || code === '' || more.length > 0) throw refused(name, value, 'it is not of the form Type:parameter')
  return { value, source, code, target }
}

interface Asked {
  readonly value: string
  readonly source: string
  readonly code: string
  readonly target: string | undefined
}

function parametersFor(name: string, { value, source, code }: Asked, parameters: SearchParameters): readonly SearchParameter[] {
  if (code === '*') return parameters.of(source).filter(({ type, canonical }) => type === 'reference' && !canonical)
  const parameter = parameters.find(source, code)
  if (parameter?.type !== 'reference') throw refused(name, value, `${source} has no reference parameter ${quoted(code)}`)
  if (!parameter.canonical) return [parameter]
  throw new OperationError('search-unsupported', `Search parameter ${quoted(name)} follows ${quoted(code)}, which refers by canonical.`, {
    expression: [name],
  })
}

function leadsTo({ targets }: SearchParameter, type: string | undefined): boolean {
  return type === undefined || targets.length === 0 || targets.includes(type)
}

/** Whether an include begins, or a revinclude ends, at the type that is searched. */
function isAbout(type: string, { direction, source, target }: Omit<Include, 'params'>, found: readonly SearchParameter[]): boolean {
  if (direction === 'include') return source === type
  return (target ?? type) === type && found.some((parameter) => leadsTo(parameter, type))
}

function refused(name: string, value: string, problem: string): OperationError {
  return new OperationError('search-invalid', `Search parameter ${quoted(name)} has the value ${quoted(value)}: ${problem}.`, {
    expression: [name],
  })
}
