import { setImmediate as turn } from 'node:timers/promises'
import { OperationError } from 'fhir-ops/errors'
import { collectGarbage } from '../../../../test/garbage.js'
import { randomOf, type Random } from './random.js'

/** Code that must accept any input without harm. */
export interface FuzzTarget<T> {
  readonly name: string
  /** Creates an input. */
  readonly input: (random: Random) => T
  /** Processes an input; may throw an `OperationError`. Other errors, and inputs that take too long, are defects. */
  readonly take: (input: T) => unknown
  /** Yields simpler inputs, to reduce an input that shows a defect. */
  readonly simpler: (input: T) => Iterable<T>
  /** Whether an error is expected; `OperationError` always is. */
  readonly isForeseen?: (error: unknown) => boolean
  /** Fraction of the inputs; less than 1 for targets that are slow because of files or compression. Default 1. */
  readonly share?: number
}

/** Maximum time for which one input may block the thread, in milliseconds of processor time. */
const MAX_STRETCH_MS = 100
/** Maximum growth of the memory in use between the first tenth and the end of a run; measured: at most 2 MB for 50,000 inputs. */
const MAX_GROWTH_BYTES = 16 * 2 ** 20

/**
 * Runs a target with many inputs.
 *
 * @throws {Error} with the seed, the number of the input, the input reduced as far as possible, and the defect.
 */
export async function fuzz<T>(target: FuzzTarget<T>, { rounds, seed }: { readonly rounds: number; readonly seed: number }): Promise<void> {
  const count = Math.max(1, Math.floor(rounds * (target.share ?? 1)))
  const growth = growthWatch(count)
  for (let number = 0; number < count; number++) {
    const input = target.input(randomOf(seed, number))
    const problem = await problemOf(target, input)
    if (problem !== undefined) throw await report(target, { input, problem, place: `seed ${seed}, input ${number}` })
    await growth.look(number)
    if (number % 64 === 0) await turn()
  }
  const grown = await growth.measured()
  if (grown > MAX_GROWTH_BYTES)
    throw new Error(`${target.name}: ${count} inputs left ${Math.round(grown / 2 ** 20)} MB in use (seed ${seed}).`)
}

/** The defect that an input shows; `undefined` if none. A long stretch counts only if it occurs each time, because other processes use the machine, too. */
async function problemOf<T>(target: FuzzTarget<T>, input: T): Promise<string | undefined> {
  let shortest = Infinity
  for (let tries = 0; tries < 3; tries++) {
    const { stretch, error } = await taken(target, input)
    if (error !== undefined) return error
    shortest = Math.min(shortest, stretch)
    if (shortest <= MAX_STRETCH_MS) return undefined
  }
  return `kept the thread for ${Math.round(shortest)} ms`
}

async function taken<T>({ take, isForeseen = () => false }: FuzzTarget<T>, input: T): Promise<{ stretch: number; error?: string }> {
  const watch = stretchWatch()
  try {
    const result = take(input)
    if (result instanceof Promise) await result
  } catch (error) {
    if (!(error instanceof OperationError) && !isForeseen(error))
      return { stretch: 0, error: `threw ${error instanceof Error ? (error.stack ?? String(error)) : String(error)}` }
  }
  return { stretch: watch.longest() }
}

/** Measures how long the thread works without a turn of the event loop. */
function stretchWatch(): { readonly longest: () => number } {
  let [since, longest, isOver] = [processorTime(), 0, false]
  const look = (): void => {
    const now = processorTime()
    longest = Math.max(longest, now - since)
    since = now
  }
  const beat = (): void => {
    if (isOver) return
    look()
    waiting = setImmediate(beat)
  }
  let waiting = setImmediate(beat)
  return {
    longest() {
      isOver = true
      clearImmediate(waiting)
      look()
      return longest
    },
  }
}

function processorTime(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** Minimum number of inputs for measuring growth. A shorter run only fills caches, and ends before it shows a leak. */
const MIN_WATCHED = 10_000

/** Growth of the memory in use between the first tenth of a run, which fills the caches, and its end. */
interface Growth {
  /** Call it after each input. */
  look(number: number): Promise<void>
  /** In bytes. */
  measured(): Promise<number>
}

function growthWatch(count: number): Growth {
  const warmUp = Math.floor(count / 10)
  let before = 0
  return {
    async look(number) {
      if (count >= MIN_WATCHED && number === warmUp) before = await bytesInUse()
    },
    measured: async () => (count < MIN_WATCHED ? 0 : (await bytesInUse()) - before),
  }
}

/** Bytes of reachable memory. Collects garbage first, because a process that ran other test files may have any amount of it. */
async function bytesInUse(): Promise<number> {
  for (let times = 0; times < 2; times++) {
    collectGarbage()
    // Objects of weak references and finalizers are released in another turn.
    await turn()
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const MAX_SIMPLER = 2_000

async function report<T>(
  target: FuzzTarget<T>,
  found: { readonly input: T; readonly problem: string; readonly place: string },
): Promise<Error> {
  let { input, problem } = found
  let tries = 0
  for (let isSimpler = true; isSimpler && tries < MAX_SIMPLER;) {
    isSimpler = false
    for (const candidate of target.simpler(input)) {
      if (++tries > MAX_SIMPLER) break
      const other = await problemOf(target, candidate)
      if (other?.slice(0, 12) !== problem.slice(0, 12)) continue
      ;[input, problem, isSimpler] = [candidate, other, true]
      break
    }
  }
  const shown =
    typeof input === 'string'
      ? JSON.stringify(input)
      : input instanceof Uint8Array
        ? `0x${Buffer.from(input).toString('hex')}`
        : JSON.stringify(input)
  return new Error(`${target.name}: ${found.place}: ${shown.slice(0, 4_000)} ${problem}`)
}

/** Yields the text without one of its pieces, large pieces first. */
export function* simplerText(text: string): Generator<string> {
  for (let size = Math.ceil(text.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < text.length; at += size) yield text.slice(0, at) + text.slice(at + size)
  }
}

/** As `simplerText`, for bytes. */
export function* simplerBytes(bytes: Uint8Array<ArrayBuffer>): Generator<Uint8Array<ArrayBuffer>> {
  for (let size = Math.ceil(bytes.length / 2); size >= 16; size = Math.ceil(size / 2)) {
    for (let at = 0; at < bytes.length; at += size) yield Uint8Array.from([...bytes.slice(0, at), ...bytes.slice(at + size)])
  }
}
