import type { Captures } from './pike.js'

/** Writes the replacement of one match. */
export type Substitution = (text: string, captures: Captures) => string

const REFERENCE = /\$(?:(\$)|(&)|(\d{1,2})|\{(\w{1,100})\})/g

/**
 * Parses a replacement text: `$1` and `${name}` mean groups, `$0` and `$&` for the whole match, `$$` for a dollar sign.
 * A group that took no part gives nothing; a reference to no group is plain text.
 */
export function parseSubstitution(replacement: string, groups: { names: ReadonlyMap<string, number>; slots: number }): Substitution {
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
