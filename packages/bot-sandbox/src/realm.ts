import type { QuickJSContext, QuickJSHandle, QuickJSRuntime, QuickJSWASMModule } from 'quickjs-emscripten-core'

/** A fresh JavaScript realm in which no code of a bot has run. */
export interface Realm {
  readonly runtime: QuickJSRuntime
  readonly context: QuickJSContext
  /** The prelude's function that furnishes the realm. */
  readonly furnish: QuickJSHandle
  /** Keeps a handle until the realm is disposed of. */
  readonly keep: (handle: QuickJSHandle) => QuickJSHandle
  dispose(): void
}

const STACK_BYTES = 256 * 1024

/**
 * Makes a realm in an engine; nothing of earlier realms is in it.
 *
 * @param prelude An expression that gives the prelude's function. To parse it is most of the cost of a small run.
 */
export function createRealm(engine: QuickJSWASMModule, prelude: string): Realm {
  const runtime = engine.newRuntime()
  runtime.setMaxStackSize(STACK_BYTES)
  const context = runtime.newContext()
  const kept: QuickJSHandle[] = []
  const keep = (handle: QuickJSHandle) => {
    kept.push(handle)
    return handle
  }
  return {
    runtime,
    context,
    furnish: keep(context.unwrapResult(context.evalCode(prelude, 'prelude.js', { type: 'global' }))),
    keep,
    dispose() {
      for (const handle of kept.reverse()) if (handle.alive) handle.dispose()
      context.dispose()
      runtime.dispose()
    },
  }
}
