import type { LinearRegex } from './linear-regex.js'
import { findMatch, type Captures } from './pike.js'
import type { SpendSteps, Work } from './work.js'

/**
 * Replaces every match, from left to right, with Perl's preference among alternatives.
 *
 * @param substitution May contain `$1`, `${name}`, `$&` and `$$`.
 * @param spend Learns of the steps, of which a character takes about 25 for each state that it is looked at in.
 * @throws {OperationError} `too-costly` beyond 50 million steps.
 */
export function replaceAll({ program }: LinearRegex, text: string, substitution: string, spend?: SpendSteps): string {
  const write = parseSubstitution(substitution, program)
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
