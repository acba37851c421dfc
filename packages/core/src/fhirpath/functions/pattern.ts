import { compileRegex, type LinearRegex } from '../../regex/index.js'
import type { Code } from '../code.js'
import type { Scope } from '../scope.js'
import { textArgument } from './definition.js'

/**
 * The regular expression that an argument gives, compiled again only when its text changes; `undefined` when the argument is empty.
 * FHIRPath's dot matches line ends.
 */
export function patternOf(argument: Code | undefined): (scope: Scope) => LinearRegex | undefined {
  let last: { readonly text: string; readonly regex: LinearRegex } | undefined
  return (scope) => {
    const text = textArgument('matches', argument?.items(scope))
    if (text === undefined) return undefined
    if (last?.text !== text) last = { text, regex: compileRegex(text, { dotAll: true }) }
    return last.regex
  }
}
