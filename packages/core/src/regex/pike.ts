import { holds, sideOf, type Side, type Program } from './program.js'
import { spendWork, type Work } from './work.js'

/** Where the groups of a match lie: begin and end of group `i` at `2i` and `2i + 1`, -1 for a group that took no part. */
export type Captures = readonly number[]

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

/** What an address costs here, in steps of an automaton without captures. */
const COST = 25

/**
 * Finds the leftmost match that begins at or after `from`, preferring alternatives as Perl does (Pike's algorithm).
 *
 * @throws {OperationError} `too-costly`.
 */
export function findMatch(program: Program, text: string, { from, work }: { from: number; work: Work }): Captures | undefined {
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

/** Takes one character on every thread, in order of preference, down to the first that has matched. */
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

/** Follows every step that needs no character, in order of preference; keeps the first way to each address. */
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
