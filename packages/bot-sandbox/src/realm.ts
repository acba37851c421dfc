import type { QuickJSContext, QuickJSHandle, QuickJSRuntime, QuickJSWASMModule } from 'quickjs-emscripten-core'

/** A fresh JavaScript realm with bounds on memory and stack. */
export interface Realm {
  readonly runtime: QuickJSRuntime
  readonly context: QuickJSContext
  /** Keeps a handle until the realm is disposed of. */
  readonly keep: (handle: QuickJSHandle) => QuickJSHandle
  dispose(): void
}

export interface RealmOptions {
  readonly memoryBytes: number
  /** Asked every few thousand steps; `true` ends what is running, and no code can catch that. */
  readonly isOver: () => boolean
}

const STACK_BYTES = 256 * 1024

/** Makes a realm in an engine; nothing of earlier realms is in it. */
export function createRealm(engine: QuickJSWASMModule, { memoryBytes, isOver }: RealmOptions): Realm {
  const runtime = engine.newRuntime()
  runtime.setMemoryLimit(memoryBytes)
  runtime.setMaxStackSize(STACK_BYTES)
  runtime.setInterruptHandler(isOver)
  const context = runtime.newContext()
  const kept: QuickJSHandle[] = []
  return {
    runtime,
    context,
    keep(handle) {
      kept.push(handle)
      return handle
    },
    dispose() {
      for (const handle of kept.reverse()) if (handle.alive) handle.dispose()
      context.dispose()
      runtime.dispose()
    },
  }
}
