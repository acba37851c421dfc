import { accepts, lazyDfa, type LazyDfa } from './dfa.js'
import { parseRegex, type RegexOptions } from './parse.js'
import { compileProgram, type Program, type SpendSteps } from './program.js'

/** A regular expression whose time grows linearly with the text, whatever the pattern. Not safe to share between threads. */
export interface LinearRegex {
  readonly pattern: string
  /** What `replaceAll` runs. */
  readonly program: Program
  /** Size of the automaton: a character of text costs at most this many steps, and usually one. */
  readonly states: number
  /** Whether some part of the text matches. @throws {OperationError} `too-costly` beyond 50 million steps. */
  test(text: string, spend?: SpendSteps): boolean
  /** Whether the text as a whole matches. @throws {OperationError} `too-costly`. */
  matchesWhole(text: string, spend?: SpendSteps): boolean
}

/**
 * Compiles a pattern in the common part of PCRE, XPath and JavaScript syntax: classes, groups, alternation, greedy and lazy
 * quantifiers, `^ $ \b \B \A \z`, `\d \w \s \p{..}`. Characters are code points; matching respects case.
 *
 * @throws {OperationError} `regex-unsupported` for malformed patterns, backreferences, lookaround, other flags than `i` and `s`, patterns over
 *   1,000 characters and patterns that would need more than 5,000 states.
 */
export function compileRegex(pattern: string, options: RegexOptions = {}): LinearRegex {
  const program = compileProgram(parseRegex(pattern, options))
  let search: LazyDfa | undefined
  let whole: LazyDfa | undefined
  return {
    pattern,
    program,
    states: program.code.length,
    test: (text, spend) => accepts((search ??= lazyDfa(program, 'anywhere')), text, spend),
    matchesWhole: (text, spend) => accepts((whole ??= lazyDfa(program, 'whole')), text, spend),
  }
}
