import { OperationError } from '../errors/index.js'
import { type Assertion, type CharTest, type ParsedRegex, type RegexNode, isWordChar } from './char-class.js'

const MAX_INSTRUCTIONS = 5_000

/** An instruction of a Thompson automaton. `next` and `other` are addresses of instructions; `split` prefers `next`. */
export type Instruction =
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
export function compileProgram(regex: ParsedRegex): Program {
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
export const EDGE = 0
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
