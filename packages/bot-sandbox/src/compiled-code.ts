import type { QuickJSContext } from 'quickjs-emscripten-core'
import type { Changes, Snapshot } from './snapshot.js'

/** The name of a bot's code in messages, and that by which the prelude imports it. */
export const CODE_FILE = 'bot.js'

/** A script or a module to be evaluated, or a module that is compiled already. */
export type CodeKind = 'global' | 'module' | 'compiled'

/** What a code is, and its module once it is compiled and not evaluated. */
interface Known {
  readonly kind: CodeKind
  readonly changes?: Changes | undefined
  readonly bytes: number
}

/** What is kept of all codes of a realm, and of one. */
const MOST_BYTES = 4 * 1024 * 1024
const MOST_OF_ONE = 512 * 1024

/** What codes are made ready in. */
export interface PreparerOptions {
  readonly context: QuickJSContext
  readonly snapshot: Snapshot
  /** What a bot may allocate. */
  readonly memoryBytes: number
}

/**
 * Makes a function that makes a realm, as its snapshot is, ready for a code: to compile one takes as long as a small run. Nothing of a code is evaluated before its run.
 */
export function codePreparer({ context, snapshot, memoryBytes }: PreparerOptions): (code: string) => CodeKind {
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
  /** Unless the memory has grown, the realm is as its snapshot afterwards, or holds the compiled module. */
  const look = (code: string): Known => {
    const size = 2 * code.length
    if (compiles(code, 'global')) return { kind: 'global', bytes: size }
    const changes = restored() && compiles(code, 'module') ? snapshot.changes() : undefined
    if (changes !== undefined && changes.bytes <= MOST_OF_ONE) return { kind: 'compiled', changes, bytes: size + changes.bytes }
    restored()
    return { kind: 'module', bytes: size }
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
      return found.kind
    }
    known.delete(code)
    known.set(code, before)
    before.changes?.apply()
    return before.kind
  }
}
