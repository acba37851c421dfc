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
