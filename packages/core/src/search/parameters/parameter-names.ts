import { didYouMean, nearest } from '../../text/index.js'
import type { SearchParameter, SearchParameters } from './search-parameter.js'

/** Parameters of every type that need no entries of its resources. */
export const OF_EVERY_TYPE: ReadonlySet<string> = new Set(['_id', '_lastUpdated', '_list'])

/** Parameters that shape the result, once in a search. */
export const CONTROLS: ReadonlySet<string> = new Set([
  '_contained',
  '_containedType',
  '_count',
  '_cursor',
  '_elements',
  '_sort',
  '_summary',
  '_total',
])

/** Parameters that bring other resources beside the matches, without their modifiers. */
export const INCLUDES: readonly string[] = ['_include', '_revinclude']

const PAGES = " The link 'next' of a Bundle leads to its next page."

/** What is said about parameters that other servers have, and no name here is near to. */
export const OF_OTHER_SERVERS: ReadonlyMap<string, string> = new Map([
  ['_fields', " Did you mean '_elements'?"],
  ['_limit', " Did you mean '_count'?"],
  ['_totalMethod', " Did you mean '_total'?"],
  ...['_getpages', '_getpagesoffset', '_offset', '_page', '_skip'].map((name) => [name, PAGES] as const),
])

/** What may be meant by a name that no parameter has. */
interface MisspeltParameter {
  readonly code: string
  /** The types that would have it. */
  readonly types: readonly string[]
  /** Other names that can stand there. */
  readonly others?: Iterable<string>
  /** Which parameters can stand there; any when absent. */
  readonly only?: (parameter: SearchParameter) => boolean
}

/** `Did you mean 'birthdate'?`, with a blank before it, to put behind a message; empty when no name is near. */
export function nearParameters(parameters: SearchParameters, { code, types, others = [], only = () => true }: MisspeltParameter): string {
  const names = types.flatMap((type) => parameters.of(type)).filter(only)
  const hint = didYouMean(nearest(code, new Set([...others, ...names.map((parameter) => parameter.code)])))
  return hint === undefined ? '' : ` ${hint}`
}
