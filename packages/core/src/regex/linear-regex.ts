import { accepts, lazyDfa, type LazyDfa } from './dfa.js'
import { parseRegex, type RegexOptions } from './parse.js'
import { findMatch, type Captures } from './pike.js'
import { compileProgram, type Program } from './program.js'
import type { SpendSteps, Work } from './work.js'

/** A regular expression whose time grows linearly with the text, whatever the pattern. Not safe to share between threads. */
export interface LinearRegex {
  readonly pattern: string
  /** Size of the automaton: a character of text costs at most so many steps, and usually one. */
  readonly states: number
  /** Whether some part of the text matches. @throws {OperationError} `too-costly` beyond 50 million steps. */
  test(text: string, spend?: SpendSteps): boolean
  /** Whether the text as a whole matches. @throws {OperationError} `too-costly`. */
  matchesWhole(text: string, spend?: SpendSteps): boolean
  /**
   * Replaces every match, from left to right, with Perl's preference among alternatives.
   *
   * @param substitution May contain `$1`, `${name}`, `$&` and `$$`.
   * @param spend Learns of the steps, of which a character takes about 25 for each state that it is looked at in.
   * @throws {OperationError} `too-costly`.
   */
  replaceAll(text: string, substitution: string, spend?: SpendSteps): string
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
    states: program.code.length,
    test: (text, spend) => accepts((search ??= lazyDfa(program, 'anywhere')), text, spend),
    matchesWhole: (text, spend) => accepts((whole ??= lazyDfa(program, 'whole')), text, spend),
    replaceAll: (text, substitution, spend) => replaceAll(program, text, { write: parseSubstitution(substitution, program), spend }),
  }
}

interface Replacement {
  readonly write: Substitution
  readonly spend: SpendSteps | undefined
}

function replaceAll(program: Program, text: string, { write, spend }: Replacement): string {
  const work: Work = { steps: 0, spend }
  let result = ''
  let from = 0
  let copied = 0
  while (from <= text.length) {
    const captures = findMatch(program, text, { from, work })
    const [begin, end] = captures ?? []
    if (captures === undefined || begin === undefined || end === undefined) break
    result += text.slice(copied, begin) + write(text, captures)
    copied = end
    from = end > begin ? end : end + ((text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1)
  }
  return result + text.slice(copied)
}

/** Writes the replacement of one match. */
type Substitution = (text: string, captures: Captures) => string

const REFERENCE = /\$(?:(\$)|(&)|(\d{1,2})|\{(\w{1,100})\})/g

/**
 * Parses a replacement text: `$1` and `${name}` mean groups, `$0` and `$&` for the whole match, `$$` for a dollar sign.
 * A group that took no part gives nothing; a reference to no group is plain text.
 */
function parseSubstitution(replacement: string, groups: { names: ReadonlyMap<string, number>; slots: number }): Substitution {
  const parts: (string | number)[] = []
  let last = 0
  for (const match of replacement.matchAll(REFERENCE)) {
    parts.push(replacement.slice(last, match.index), referenced(match, groups))
    last = match.index + match[0].length
  }
  parts.push(replacement.slice(last))
  return (text, captures) => parts.map((part) => (typeof part === 'string' ? part : groupText(text, captures, part))).join('')
}

function referenced(match: RegExpExecArray, { names, slots }: { names: ReadonlyMap<string, number>; slots: number }): string | number {
  const [whole, dollar, ampersand, digits, name] = match
  if (dollar !== undefined) return '$'
  if (ampersand !== undefined) return 0
  const group = names.get(name ?? '') ?? Number(digits ?? name)
  return group * 2 < slots ? group : whole
}

function groupText(text: string, captures: Captures, group: number): string {
  const begin = captures[2 * group] ?? -1
  const end = captures[2 * group + 1] ?? -1
  return begin < 0 || end < 0 ? '' : text.slice(begin, end)
}
