import type { PrimitiveProblem } from './primitive-problem.js'

/** Control characters but tab and line breaks, which XML cannot carry. */
const UNSEEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F]/
const DIRECTIONS = /[\u202A-\u202E\u2066-\u2069]/
/** What each control of direction is ended by. */
const ENDS: ReadonlyMap<string, string> = new Map([
  ...['\u202A', '\u202B', '\u202D', '\u202E'].map((start): [string, string] => [start, '\u202C']),
  ...['\u2066', '\u2067', '\u2068'].map((start): [string, string] => [start, '\u2069']),
])

/** Tells of characters that nobody sees: controls, and changes of the direction of writing that do not end, which make a text look like another. */
export function controlProblem(text: string): PrimitiveProblem | undefined {
  if (UNSEEN.test(text)) return warning('The text has control characters.')
  return DIRECTIONS.test(text) && !isBalanced(text)
    ? warning('The text changes the direction of writing and does not change it back.')
    : undefined
}

function isBalanced(text: string): boolean {
  const open: string[] = []
  for (const character of text) {
    const end = ENDS.get(character)
    if (end !== undefined) open.push(end)
    else if ((character === '\u202C' || character === '\u2069') && open.pop() !== character) return false
  }
  return open.length === 0
}

function warning(text: string): PrimitiveProblem {
  return { kind: 'string-control', text, severity: 'warning' }
}
