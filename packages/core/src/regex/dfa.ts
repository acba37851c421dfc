import type { Instruction, Program } from './program.js'
import { EDGE, holds, sideOf, type Side } from './position.js'
import { Work } from './work.js'

const ASCII = 128
const MAX_CACHED_ADDRESSES = 200_000

/** Where a match may begin and end: anywhere, or only at both ends of the text. */
export type Anchoring = 'anywhere' | 'whole'

/** A set of automaton addresses reached so far, with the transitions that are already known. */
interface State {
  readonly kernel: readonly number[]
  readonly before: Side
  readonly ascii: (State | undefined)[]
  readonly wide: Map<number, State>
  /** Whether the text may end here; unknown until asked. */
  accepts: boolean | undefined
}

/**
 * Simulates the automaton with states that are built when they are first reached and kept until there are too many.
 * Time is linear in the text, whatever the pattern.
 */
export class LazyDfa {
  readonly #program: Program
  readonly #anchoring: Anchoring
  readonly #accepted: State = newState([], EDGE)
  readonly #marks: Uint32Array
  #mark = 0
  #states = new Map<string, State>()
  #addresses = 0

  constructor(program: Program, anchoring: Anchoring) {
    this.#program = program
    this.#anchoring = anchoring
    this.#marks = new Uint32Array(program.code.length)
  }

  /** @throws {OperationError} `too-costly`. */
  accepts(text: string): boolean {
    const work = new Work()
    let state = this.#state([this.#program.start], EDGE)
    for (let at = 0; at < text.length; at++) {
      const code = codePointIn(text, at)
      if (code > 0xffff) at += 1
      state = known(state, code) ?? this.#step(state, code, work)
      if (state === this.#accepted) return true
      if (state.kernel.length === 0) return false
    }
    state.accepts ??= this.#closure(state, EDGE, work) === undefined
    return state.accepts
  }

  #step(state: State, code: number, work: Work): State {
    const next = this.#target(state, code, work)
    if (code < ASCII) state.ascii[code] = next
    else if (state.wide.size < ASCII) state.wide.set(code, next)
    return next
  }

  #target(state: State, code: number, work: Work): State {
    const closure = this.#closure(state, sideOf(code), work)
    if (closure === undefined) return this.#accepted
    this.#mark += 1
    const kernel: number[] = []
    for (const instruction of closure) {
      if (instruction.op === 'char' && instruction.test(code)) this.#enter(kernel, instruction.next)
    }
    if (this.#anchoring === 'anywhere') this.#enter(kernel, this.#program.start)
    return this.#state(kernel, sideOf(code))
  }

  #enter(kernel: number[], address: number): void {
    if (this.#marks[address] === this.#mark) return
    this.#marks[address] = this.#mark
    kernel.push(address)
  }

  /** Everything reachable without a character when `after` comes next; `undefined` when that is a match. */
  #closure(state: State, after: Side, work: Work): readonly Instruction[] | undefined {
    this.#mark += 1
    const seen = this.#marks
    const stack = [...state.kernel]
    const reached: Instruction[] = []
    for (let address = stack.pop(); address !== undefined; address = stack.pop()) {
      const instruction = this.#program.code[address]
      if (instruction === undefined || seen[address] === this.#mark) continue
      seen[address] = this.#mark
      reached.push(instruction)
      if (instruction.op === 'match' && (after === EDGE || this.#anchoring === 'anywhere')) return undefined
      pushNext(stack, instruction, { before: state.before, after })
    }
    work.add(reached.length)
    return reached
  }

  #state(kernel: readonly number[], before: Side): State {
    const addresses = [...kernel].sort((a, b) => a - b)
    const key = `${before}:${addresses.join()}`
    const known = this.#states.get(key)
    if (known !== undefined) return known
    this.#addresses += addresses.length + ASCII
    if (this.#addresses > MAX_CACHED_ADDRESSES) {
      this.#states = new Map()
      this.#addresses = addresses.length + ASCII
    }
    const state = newState(addresses, before)
    this.#states.set(key, state)
    return state
  }
}

/** Reads a code unit first, which is enough for nearly every character. */
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
