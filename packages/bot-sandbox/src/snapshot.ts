import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten-core'

/** The state of a WebAssembly memory, to which it can be restored. */
interface Snapshot {
  /** False if the memory has grown. Then it cannot be restored and must not be used any more. */
  readonly isWhole: () => boolean
  /** Restores the memory, and sets everything above the used part to zero. @throws {Error} if the memory has grown. */
  readonly restore: () => void
  /** The differences from the snapshot. Must be called while the stack is empty. `undefined` if the memory has grown. */
  changes(): Changes | undefined
}

/** A state of the memory, as its difference from a snapshot. */
interface Changes {
  /** Memory that the changes need. */
  readonly bytes: number
  /** Applies the changes to the memory, which must be in the state of the snapshot. */
  apply(): void
}

/** Properties of the program in the memory. */
interface SnapshotOptions {
  /** Maximum number of bytes of its stack that a run uses. The rest was never written. */
  readonly stackBytes: number
  /** Allocates bytes, none of them zero, and returns a function that frees them. */
  readonly allocate: (bytes: number) => () => void
}

const PROBE_BYTES = 256 * 1024
/** The allocator asks for more memory in steps of this size. */
const GRANULE = 64 * 1024

/**
 * Takes a snapshot of the memory of a program that Emscripten has compiled: static data, an empty stack of megabytes, and the heap. Most of the stack is
 * left out, because copying it would take longer than all the rest.
 *
 * @throws {Error} if the memory has another layout, as it may have with a new version of the engine.
 */
export function takeSnapshot(memory: WebAssembly.Memory, { stackBytes, allocate }: SnapshotOptions): Snapshot {
  const size = memory.buffer.byteLength
  const words = new Uint32Array(memory.buffer)
  const used = usedWords(words)
  const stack = longestRunOfZeros(words, used)
  const highFrom = stack.to - stackBytes / 4
  if (highFrom < stack.from) throw new Error('The stack of the engine was not found.')
  const low = words.slice(0, stack.from)
  const heap = words.slice(stack.to, used)
  const endPlace = findEndOfHeap(words, { low, used, allocate })
  const heapEnd = (): number => (words[endPlace] ?? size) / 4
  const stackInUse = new Uint8Array(memory.buffer, highFrom * 4, (stack.to - highFrom) * 4)
  const isWhole = (): boolean => memory.buffer.byteLength === size
  const restore = (): void => {
    if (!isWhole()) throw new Error('The memory of the engine has grown.')
    const end = heapEnd()
    words.set(low)
    stackInUse.fill(0)
    words.set(heap, stack.to)
    words.fill(0, used, end)
  }
  const changes = (): Changes | undefined => {
    if (!isWhole()) return undefined
    const above = new Uint32Array(heapEnd() - used)
    const parts = [...changesIn(words, low, 0), ...changesIn(words, heap, stack.to), ...changesIn(words, above, used)]
    return {
      bytes: parts.reduce((sum, { now }) => sum + now.byteLength + BYTES_BESIDE, 0),
      apply() {
        for (const { at, now } of parts) words.set(now, at)
      },
    }
  }
  restore()
  if (usedWords(words) > used) throw new Error('The memory of the engine cannot be set back.')
  return { isWhole, restore, changes }
}

/** A range of changed words, and the index of the first. */
interface Part {
  readonly at: number
  readonly now: Uint32Array
}

/** Maximum number of unchanged words between changed ones in one part, because writing another part takes longer than writing a few more words. */
const GAP = 64
/** Memory of a part besides its words. */
const BYTES_BESIDE = 200

/** @param before The words from `start` on in the snapshot. */
function changesIn(words: Uint32Array, before: Uint32Array, start: number): readonly Part[] {
  const parts: Part[] = []
  for (let at = 0; at < before.length; at++) {
    if (words[start + at] === before[at]) continue
    let end = at + 1
    for (let next = end; next < Math.min(before.length, end + GAP); next++) if (words[start + next] !== before[next]) end = next + 1
    parts.push({ at: start + at, now: words.slice(start + at, start + end) })
    at = end
  }
  return parts
}

interface Before extends Pick<SnapshotOptions, 'allocate'> {
  /** The words of the static data. */
  readonly low: Uint32Array
  readonly used: number
}

/** Finds the index of the word with the end of the heap. An allocation raises its value, which stays when the allocation is freed. */
function findEndOfHeap(words: Uint32Array, { low, used, allocate }: Before): number {
  const isEnd = (word: number | undefined, end: number): boolean => word !== undefined && word >= end * 4 && word <= end * 4 + GRANULE
  const free = allocate(PROBE_BYTES)
  const [during, usedDuring] = [words.slice(0, low.length), usedWords(words)]
  free()
  const places = [...low.keys()].filter(
    (place) => isEnd(low[place], used) && isEnd(during[place], usedDuring) && words[place] === during[place],
  )
  const [place, ...others] = places
  if (place === undefined || others.length > 0 || usedDuring - used < PROBE_BYTES / 8)
    throw new Error('The end of the heap of the engine was not found.')
  return place
}

const ZEROS = new Uint8Array(GRANULE)
const WORDS_AT_ONCE = GRANULE / 4

/** Whether a granule is zero. Most of the memory is, and comparing whole granules takes a tenth of the time of comparing each word. */
function isZeroGranule(words: Uint32Array, from: number): boolean {
  return from >= 0 && from + WORDS_AT_ONCE <= words.length && Buffer.compare(new Uint8Array(words.buffer, from * 4, GRANULE), ZEROS) === 0
}

/** Number of words in use from the start; all later ones are zero. */
function usedWords(words: Uint32Array): number {
  let end = words.length
  while (isZeroGranule(words, end - WORDS_AT_ONCE)) end -= WORDS_AT_ONCE
  while (end > 0 && words[end - 1] === 0) end--
  return end
}

function longestRunOfZeros(words: Uint32Array, end: number): { readonly from: number; readonly to: number } {
  let longest = { from: 0, to: 0 }
  for (let from = 0; from < end; from++) {
    if (words[from] !== 0) continue
    let to = from
    while (to < end && words[to] === 0) to += to % WORDS_AT_ONCE === 0 && isZeroGranule(words, to) ? WORDS_AT_ONCE : 1
    if (to - from > longest.to - longest.from) longest = { from, to: Math.min(to, end) }
    from = to
  }
  return longest
}

/** The name of a bot's code in messages, and the name under which the prelude imports it. */
export const CODE_FILE = 'bot.js'

/** How prepared code is run. */
export type Prepared =
  /** By evaluating its source. */
  | { readonly kind: 'source'; readonly type: 'global' | 'module' }
  /** By importing `CODE_FILE`, the module that it was compiled to. */
  | { readonly kind: 'module' }
  /** By calling the function that it was compiled to. */
  | { readonly kind: 'script'; readonly body: QuickJSHandle }

/** Prepared code, and the memory changes that hold its compiled form. */
interface Known {
  readonly prepared: Prepared
  readonly changes?: Changes | undefined
  readonly bytes: number
}

/** Maximum memory for all compiled codes of a realm, and for one. The longest source of the usual limit, compiled, takes half of the latter. */
const MOST_BYTES = 16 * 1024 * 1024
const MOST_OF_ONE = 8 * 1024 * 1024

/** Options of `codePreparer`. */
interface PreparerOptions {
  readonly context: QuickJSContext
  readonly snapshot: Snapshot
  /** Maximum memory that a bot may allocate. */
  readonly memoryBytes: number
}

/**
 * Creates a function that prepares code in a realm that is in the state of its snapshot. The compiled form is kept: compiling takes as long as a small run,
 * and for large code as long as hundreds. None of the code is evaluated before its run.
 */
export function codePreparer({ context, snapshot, memoryBytes }: PreparerOptions): (code: string) => Prepared {
  const known = new Map<string, Known>()
  let bytes = 0
  // The limit is stored in the memory of the engine, which is restored, so it is set each time.
  const limit = (): void => context.runtime.setMemoryLimit(memoryBytes)
  const restored = (): boolean => {
    if (!snapshot.isWhole()) return false
    snapshot.restore()
    limit()
    return true
  }
  const compiles = (code: string, type: 'global' | 'module'): boolean =>
    context.evalCode(code, CODE_FILE, { type, compileOnly: true }).error === undefined
  /** `undefined` for code that cannot be put into a function, such as one that begins with `#!`. */
  const compiledScript = (code: string): Prepared | undefined => {
    const result = context.evalCode(`(function () {${code}\n})`, CODE_FILE, { type: 'global' })
    return result.error === undefined ? { kind: 'script', body: result.value } : undefined
  }
  const compiledModule = (code: string): Prepared | undefined => (compiles(code, 'module') ? { kind: 'module' } : undefined)
  /** Afterwards the realm is in the state of its snapshot, or holds the compiled code, unless its memory has grown. */
  const look = (code: string): Known => {
    const size = 2 * code.length
    // Code that is not a valid script by itself could close the function and continue after it.
    const type = compiles(code, 'global') ? 'global' : 'module'
    const compiled = type === 'global' ? compiledScript : compiledModule
    const prepared = restored() ? compiled(code) : undefined
    const changes = prepared && snapshot.changes()
    if (prepared !== undefined && changes !== undefined && changes.bytes <= MOST_OF_ONE)
      return { prepared, changes, bytes: size + changes.bytes }
    restored()
    return { prepared: { kind: 'source', type }, bytes: size }
  }
  const keep = (code: string, found: Known): void => {
    known.set(code, found)
    bytes += found.bytes
    for (const [oldest, { bytes: freed }] of known) {
      if (bytes <= MOST_BYTES) break
      known.delete(oldest)
      bytes -= freed
    }
  }
  return (code) => {
    limit()
    const before = known.get(code)
    if (before === undefined) {
      const found = look(code)
      keep(code, found)
      return found.prepared
    }
    known.delete(code)
    known.set(code, before)
    before.changes?.apply()
    return before.prepared
  }
}
