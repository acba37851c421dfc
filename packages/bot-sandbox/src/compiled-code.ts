import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten-core'
import type { Changes, Snapshot } from './snapshot.js'

/** The name of a bot's code in messages, and that by which the prelude imports it. */
export const CODE_FILE = 'bot.js'

/** How a code that was made ready is run. */
export type Prepared =
  /** By evaluating its source. */
  | { readonly kind: 'source'; readonly type: 'global' | 'module' }
  /** By importing `CODE_FILE`, the module that it was compiled to. */
  | { readonly kind: 'module' }
  /** By calling the function that it was compiled to. */
  | { readonly kind: 'script'; readonly body: QuickJSHandle }

/** How a code is run, and what it was compiled to. */
interface Known {
  readonly prepared: Prepared
  readonly changes?: Changes | undefined
  readonly bytes: number
}

/** What is kept of all codes of a realm, and of one. What the longest source of the usual limit is compiled to takes half of the latter. */
const MOST_BYTES = 16 * 1024 * 1024
const MOST_OF_ONE = 8 * 1024 * 1024

/** What codes are made ready in. */
export interface PreparerOptions {
  readonly context: QuickJSContext
  readonly snapshot: Snapshot
  /** What a bot may allocate. */
  readonly memoryBytes: number
}

/**
 * Makes a function that makes a realm, as its snapshot is, ready for a code: to compile one takes as long as a small run, and as hundreds where it is large. Nothing of a
 * code is evaluated before its run.
 */
export function codePreparer({ context, snapshot, memoryBytes }: PreparerOptions): (code: string) => Prepared {
  const known = new Map<string, Known>()
  let bytes = 0
  // The limit is in the engine's memory too.
  const limit = (): void => context.runtime.setMemoryLimit(memoryBytes)
  const restored = (): boolean => {
    if (!snapshot.isWhole()) return false
    snapshot.restore()
    limit()
    return true
  }
  const compiles = (code: string, type: 'global' | 'module'): boolean =>
    context.evalCode(code, CODE_FILE, { type, compileOnly: true }).error === undefined
  /** Undefined for a code that cannot be in a function, such as one that begins with `#!`. */
  const compiledScript = (code: string): Prepared | undefined => {
    const result = context.evalCode(`(function () {${code}\n})`, CODE_FILE, { type: 'global' })
    return result.error === undefined ? { kind: 'script', body: result.value } : undefined
  }
  const compiledModule = (code: string): Prepared | undefined => (compiles(code, 'module') ? { kind: 'module' } : undefined)
  /** Unless the memory has grown, the realm is as its snapshot afterwards, or holds what the code was compiled to. */
  const look = (code: string): Known => {
    const size = 2 * code.length
    // A code that is no script by itself could end the function and continue.
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
