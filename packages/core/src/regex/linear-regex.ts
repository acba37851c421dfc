import { parseRegex, type RegexOptions } from './parse.js'
import {
  compileProgram,
  type Program,
  type SpendSteps,
  EDGE,
  holds,
  sideOf,
  spendWork,
  type Instruction,
  type Side,
  type Work,
} from './program.js'

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

const ASCII = 128
const MAX_CACHED_ADDRESSES = 200_000

/** Where a match may begin and end: anywhere, or only at the beginning and end of the text. */
type Anchoring = 'anywhere' | 'whole'

/** A state: a set of program addresses, with the transitions computed so far. */
interface State {
  readonly kernel: readonly number[]
  readonly before: Side
  readonly ascii: (State | undefined)[]
  readonly wide: Map<number, State>
  /** Whether the text may end in this state; `undefined` until computed. */
  accepts: boolean | undefined
}

/** An automaton that builds its states on demand, and discards them when there are too many. */
interface LazyDfa {
  readonly program: Program
  readonly anchoring: Anchoring
  /** Represents every state in which a match is found. */
  readonly accepted: State
  /** For each address, the round in which it was last visited. */
  readonly marks: Uint32Array
  round: number
  states: Map<string, State>
  addresses: number
}

/** Creates an automaton without states. */
function lazyDfa(program: Program, anchoring: Anchoring): LazyDfa {
  const marks = new Uint32Array(program.code.length)
  return { program, anchoring, accepted: newState([], EDGE), marks, round: 0, states: new Map(), addresses: 0 }
}

/**
 * Returns whether the automaton finds a match in the text, in time linear in the text.
 *
 * @throws {OperationError} `too-costly`.
 */
function accepts(dfa: LazyDfa, text: string, spend?: SpendSteps): boolean {
  const work: Work = { steps: 0, spend }
  let state = stateOf(dfa, [dfa.program.start], EDGE)
  for (let at = 0; at < text.length; at++) {
    const code = codePointIn(text, at)
    if (code > 0xffff) at += 1
    state = known(state, code) ?? step(dfa, state, { code, work })
    if (state === dfa.accepted) return true
    if (state.kernel.length === 0) return false
  }
  state.accepts ??= closure(dfa, state, { after: EDGE, work }) === undefined
  return state.accepts
}

function step(dfa: LazyDfa, state: State, { code, work }: { code: number; work: Work }): State {
  const next = target(dfa, state, { code, work })
  if (code < ASCII) state.ascii[code] = next
  else if (state.wide.size < ASCII) state.wide.set(code, next)
  return next
}

function target(dfa: LazyDfa, state: State, { code, work }: { code: number; work: Work }): State {
  const reached = closure(dfa, state, { after: sideOf(code), work })
  if (reached === undefined) return dfa.accepted
  dfa.round += 1
  const kernel: number[] = []
  for (const instruction of reached) {
    if (instruction.op === 'char' && instruction.test(code)) enter(dfa, kernel, instruction.next)
  }
  if (dfa.anchoring === 'anywhere') enter(dfa, kernel, dfa.program.start)
  return stateOf(dfa, kernel, sideOf(code))
}

function enter(dfa: LazyDfa, kernel: number[], address: number): void {
  if (dfa.marks[address] === dfa.round) return
  dfa.marks[address] = dfa.round
  kernel.push(address)
}

/** The instructions reachable without consuming a character if `after` comes next; `undefined` if a match is among them. */
function closure(dfa: LazyDfa, state: State, { after, work }: { after: Side; work: Work }): readonly Instruction[] | undefined {
  dfa.round += 1
  const stack = [...state.kernel]
  const reached: Instruction[] = []
  for (let address = stack.pop(); address !== undefined; address = stack.pop()) {
    const instruction = dfa.program.code[address]
    if (instruction === undefined || dfa.marks[address] === dfa.round) continue
    dfa.marks[address] = dfa.round
    reached.push(instruction)
    if (instruction.op === 'match' && (after === EDGE || dfa.anchoring === 'anywhere')) return undefined
    pushNext(stack, instruction, { before: state.before, after })
  }
  spendWork(work, reached.length)
  return reached
}

function stateOf(dfa: LazyDfa, kernel: readonly number[], before: Side): State {
  const addresses = [...kernel].sort((a, b) => a - b)
  const key = `${before}:${addresses.join()}`
  const found = dfa.states.get(key)
  if (found !== undefined) return found
  dfa.addresses += addresses.length + ASCII
  if (dfa.addresses > MAX_CACHED_ADDRESSES) {
    dfa.states = new Map()
    dfa.addresses = addresses.length + ASCII
  }
  const state = newState(addresses, before)
  dfa.states.set(key, state)
  return state
}

/** Reads a code point. Reads one code unit first, which suffices for nearly all characters. */
function codePointIn(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  return unit >= 0xd800 && unit < 0xdc00 ? (text.codePointAt(at) ?? unit) : unit
}

function known(state: State, code: number): State | undefined {
  return code < ASCII ? state.ascii[code] : state.wide.get(code)
}

function newState(kernel: readonly number[], before: Side): State {
  return { kernel, before, ascii: [], wide: new Map(), accepts: undefined }
}

function pushNext(stack: number[], instruction: Instruction, sides: { before: Side; after: Side }): void {
  if (instruction.op === 'split') stack.push(instruction.other, instruction.next)
  else if (instruction.op === 'save') stack.push(instruction.next)
  else if (instruction.op === 'assert' && holds(instruction.assertion, sides.before, sides.after)) stack.push(instruction.next)
}
