import { type LinearRegex, holds, sideOf, spendWork, type Program, type Side, type SpendSteps, type Work } from './linear-regex.js'

/**
 * Replaces every match, from left to right, preferring alternatives as Perl does.
 *
 * @param substitution May contain `$1`, `${name}`, `$&` and `$$`.
 * @param spend Called with the steps; a character costs about 25 steps for each state in which it is tested.
 * @throws {OperationError} `too-costly` beyond 50 million steps.
 */
export function replaceAll({ program }: LinearRegex, text: string, substitution: string, spend?: SpendSteps): string {
  const { write, parts } = parseSubstitution(substitution, program)
  const work: Work = { steps: 0, spend }
  let result = ''
  let from = 0
  let copied = 0
  while (from <= text.length) {
    const captures = findMatch(program, text, { from, work })
    const [begin, end] = captures ?? []
    if (captures === undefined || begin === undefined || end === undefined) break
    spendWork(work, parts * COST_OF_PART)
    result += text.slice(copied, begin) + write(text, captures)
    copied = end
    from = end > begin ? end : end + ((text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1)
  }
  return result + text.slice(copied)
}

interface Substitution {
  /** Returns the replacement of one match. */
  readonly write: (text: string, captures: Captures) => string
  /** Number of texts and references that it is made of. */
  readonly parts: number
}

const REFERENCE = /\$(?:(\$)|(&)|(\d{1,2})|\{(\w{1,100})\})/g

/**
 * Parses a replacement text: `$1` and `${name}` stand for groups, `$0` and `$&` for the whole match, `$$` for a dollar sign.
 * A group that did not participate is replaced with nothing; a reference to an unknown group is plain text.
 */
function parseSubstitution(replacement: string, groups: { names: ReadonlyMap<string, number>; slots: number }): Substitution {
  const parts: (string | number)[] = []
  let last = 0
  for (const match of replacement.matchAll(REFERENCE)) {
    parts.push(replacement.slice(last, match.index), referenced(match, groups))
    last = match.index + match[0].length
  }
  parts.push(replacement.slice(last))
  const write: Substitution['write'] = (text, captures) =>
    parts.map((part) => (typeof part === 'string' ? part : groupText(text, captures, part))).join('')
  return { write, parts: parts.length }
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

/** Positions of the groups of a match: beginning and end of group `i` at `2i` and `2i + 1`, -1 for a group that did not participate. */
type Captures = readonly number[]

interface Thread {
  readonly address: number
  readonly captures: Captures
}

interface Position {
  readonly at: number
  readonly before: Side
  readonly after: Side
  readonly work: Work
}

/** Cost of an address with captures, in steps of an automaton without captures. */
const COST = 25

/** Cost of a part of a replacement, in the same steps. */
const COST_OF_PART = 2

/**
 * Finds the leftmost match at or after `from`, preferring alternatives as Perl does (Pike's algorithm).
 *
 * @throws {OperationError} `too-costly`.
 */
function findMatch(program: Program, text: string, { from, work }: { from: number; work: Work }): Captures | undefined {
  let threads: Thread[] = []
  let found: Captures | undefined
  let before = from === 0 ? -1 : codePointAt(text, from - 1)
  for (let at = from; ;) {
    const code = codePointAt(text, at)
    if (found === undefined) threads.push({ address: program.start, captures: unset(program) })
    const reached = spread(program, threads, { at, before: sideOf(before), after: sideOf(code), work })
    const step = advance(program, reached, code)
    found = step.found ?? found
    threads = step.threads
    if (code < 0 || (found !== undefined && threads.length === 0)) return found
    before = code
    at += code > 0xffff ? 2 : 1
  }
}

/** Advances every thread by one character, in order of preference, up to the first thread that has matched. */
function advance(program: Program, reached: readonly Thread[], code: number): { found?: Captures; threads: Thread[] } {
  const threads: Thread[] = []
  for (const { address, captures } of reached) {
    const instruction = program.code[address]
    if (instruction?.op === 'match') return { found: captures, threads }
    if (instruction?.op === 'char' && code >= 0 && instruction.test(code)) threads.push({ address: instruction.next, captures })
  }
  return { threads }
}

function codePointAt(text: string, at: number): number {
  return text.codePointAt(at) ?? -1
}

/** Follows all steps that consume no character, in order of preference; keeps the first path to each address. */
function spread(program: Program, threads: readonly Thread[], position: Position): Thread[] {
  const seen = new Set<number>()
  const reached: Thread[] = []
  const stack = threads.toReversed()
  for (let thread = stack.pop(); thread !== undefined; thread = stack.pop()) {
    if (seen.has(thread.address)) continue
    seen.add(thread.address)
    spendWork(position.work, COST)
    if (!follow(program, { thread, stack }, position)) reached.push(thread)
  }
  return reached
}

function follow(program: Program, { thread, stack }: { thread: Thread; stack: Thread[] }, position: Position): boolean {
  const { address, captures } = thread
  const instruction = program.code[address]
  switch (instruction?.op) {
    case 'split':
      stack.push({ address: instruction.other, captures }, { address: instruction.next, captures })
      return true
    case 'save':
      stack.push({ address: instruction.next, captures: captures.with(instruction.slot, position.at) })
      return true
    case 'assert':
      if (holds(instruction.assertion, position.before, position.after)) stack.push({ address: instruction.next, captures })
      return true
    default:
      return false
  }
}

function unset(program: Program): Captures {
  return Array.from({ length: program.slots }, () => -1)
}
