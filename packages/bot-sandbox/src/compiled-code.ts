import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten-core'
import type { Changes, Snapshot } from './snapshot.js'

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
