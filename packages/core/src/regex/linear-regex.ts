import { parseRegex, type RegexOptions } from './parse.js'
import { OperationError } from '../errors/index.js'
import { type Assertion, type CharTest, type ParsedRegex, type RegexNode, isWordChar } from './char-class.js'

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

const MAX_INSTRUCTIONS = 5_000

/** An instruction of a Thompson automaton. `next` and `other` are addresses of instructions; `split` prefers `next`. */
type Instruction =
  | { readonly op: 'char'; readonly test: CharTest; readonly next: number }
  | { readonly op: 'split'; readonly next: number; readonly other: number }
  | { readonly op: 'assert'; readonly assertion: Assertion; readonly next: number }
  | { readonly op: 'save'; readonly slot: number; readonly next: number }
  | { readonly op: 'match' }

/** An automaton that begins at `start`. Group `i` saves its beginning in slot `2i` and its end in slot `2i + 1`; group 0 is the whole match. */
export interface Program {
  readonly code: readonly Instruction[]
  readonly start: number
  readonly slots: number
  readonly names: ReadonlyMap<string, number>
}

/**
 * Compiles a pattern to an automaton, from back to front, so that every address is known when it is used.
 *
 * @throws {OperationError} `regex-unsupported` if repetitions multiply to too many instructions.
 */
function compileProgram(regex: ParsedRegex): Program {
  const code: Instruction[] = [{ op: 'match' }]
  const end = emit(code, { op: 'save', slot: 1, next: 0 })
  const start = emit(code, { op: 'save', slot: 0, next: compile(code, regex.root, end) })
  return { code, start, slots: 2 * (regex.groups + 1), names: regex.names }
}

function emit(code: Instruction[], instruction: Instruction): number {
  if (code.length >= MAX_INSTRUCTIONS) {
    throw new OperationError('regex-unsupported', `The regular expression needs more than ${MAX_INSTRUCTIONS} states.`)
  }
  return code.push(instruction) - 1
}

/** Emits `node` so that it continues at `next`. Returns the address where it begins. */
function compile(code: Instruction[], node: RegexNode, next: number): number {
  switch (node.kind) {
    case 'empty':
      return next
    case 'char':
      return emit(code, { op: 'char', test: node.test, next })
    case 'assert':
      return emit(code, { op: 'assert', assertion: node.assertion, next })
    case 'sequence':
      return node.parts.reduceRight((after, part) => compile(code, part, after), next)
    case 'choice':
      return compileChoice(code, node.options, next)
    case 'group': {
      const close = emit(code, { op: 'save', slot: 2 * node.index + 1, next })
      return emit(code, { op: 'save', slot: 2 * node.index, next: compile(code, node.body, close) })
    }
    case 'repeat':
      return compileRepeat(code, node, next)
  }
}

function compileChoice(code: Instruction[], options: readonly RegexNode[], next: number): number {
  const entries = options.map((option) => compile(code, option, next))
  return entries.reduceRight((other, entry) => emit(code, { op: 'split', next: entry, other }))
}

function compileRepeat(code: Instruction[], node: RegexNode & { kind: 'repeat' }, next: number): number {
  let entry = next
  if (node.max === Infinity) entry = compileStar(code, node, next)
  else for (let i = node.min; i < node.max; i++) entry = emit(code, branch(node.lazy, compile(code, node.body, entry), next))
  for (let i = 0; i < node.min; i++) entry = compile(code, node.body, entry)
  return entry
}

function compileStar(code: Instruction[], node: RegexNode & { kind: 'repeat' }, next: number): number {
  const loop = emit(code, { op: 'match' })
  code[loop] = branch(node.lazy, compile(code, node.body, loop), next)
  return loop
}

function branch(lazy: boolean, body: number, exit: number): Instruction {
  return lazy ? { op: 'split', next: exit, other: body } : { op: 'split', next: body, other: exit }
}

/** The kind of neighbour on one side of a position in the text. */
export type Side = typeof EDGE | typeof WORD | typeof OTHER

/** No neighbour: the beginning or end of the text. */
const EDGE = 0
/** A character of `[A-Za-z0-9_]`. */
const WORD = 1
/** Any other character. */
const OTHER = 2

/** The side for a code point; a negative one means the edge of the text. */
export function sideOf(codePoint: number): Side {
  if (codePoint < 0) return EDGE
  return isWordChar(codePoint) ? WORD : OTHER
}

/** Returns whether an assertion holds between two sides. */
export function holds(assertion: Assertion, before: Side, after: Side): boolean {
  if (assertion === 'start') return before === EDGE
  if (assertion === 'end') return after === EDGE
  return ((before === WORD) !== (after === WORD)) === (assertion === 'boundary')
}

const MAX_WORK = 50_000_000

/** Called with the number of automaton steps as they are taken. May throw, which ends the call. */
export type SpendSteps = (steps: number) => void

/** The automaton steps of one call. */
export interface Work {
  steps: number
  readonly spend?: SpendSteps | undefined
}

/**
 * Counts steps, so that matching a long text against a large pattern ends in time.
 *
 * @throws {OperationError} `too-costly` beyond 50 million.
 */
export function spendWork(work: Work, steps: number): void {
  work.steps += steps
  work.spend?.(steps)
  if (work.steps > MAX_WORK) throw new OperationError('too-costly', 'The regular expression takes too many steps on this text.')
}
