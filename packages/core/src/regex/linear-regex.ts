import { accepts, lazyDfa, type LazyDfa } from './dfa.js'
import { parseRegex, type RegexOptions } from './parse.js'
import { compileProgram, type Program, type SpendSteps } from './program.js'

/** A regular expression whose time grows linearly with the text, whatever the pattern. Not safe to share between threads. */
export interface LinearRegex {
  readonly pattern: string
  /** The compiled program, for `replaceAll`. */
  readonly program: Program
  /** Size of the automaton: the maximum cost of one character in steps; usually it costs one step. */
  readonly states: number
  /** Returns whether some part of the text matches. @throws {OperationError} `too-costly` beyond 50 million steps. */
  test(text: string, spend?: SpendSteps): boolean
  /** Returns whether the whole text matches. @throws {OperationError} `too-costly`. */
  matchesWhole(text: string, spend?: SpendSteps): boolean
}

/**
 * Compiles a pattern in the common subset of PCRE, XPath and JavaScript syntax: classes, groups, alternation, greedy and lazy
 * quantifiers, `^ $ \b \B \A \z`, `\d \w \s \p{..}`, flags in the pattern. Characters are code points; matching is case-sensitive unless `(?i)` is set.
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
