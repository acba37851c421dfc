import { isOffered } from './controls.js'
import { isSearchable } from './filter/filter.js'
import type { SearchOptions } from './search-options.js'

/**
 * Whether a search of a type takes a parameter of this name. Modifiers, chains and values are not looked at: what is wrong in them is
 * refused, however lenient a server may be.
 */
export function isKnownParameter(type: string, name: string, options: SearchOptions): boolean {
  const code = /^[^.:]*/.exec(name)?.[0] ?? ''
  return isOffered(name) || code === '_has' || isSearchable(options, type, code)
}
