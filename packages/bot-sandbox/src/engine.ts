import variant from '@jitl/quickjs-ng-wasmfile-release-sync'
import { newQuickJSWASMModuleFromVariant, newVariant, type QuickJSSyncVariant, type QuickJSWASMModule } from 'quickjs-emscripten-core'

const PAGE = 64 * 1024
/** What the engine starts with: its own data, its stack, and about 10 MB for bots. */
const FIRST_PAGES = 256

/**
 * Starts a JavaScript engine: an instance of QuickJS with a WebAssembly memory of its own.
 *
 * @param memoryBytes What a bot may allocate. The memory ends a quarter above, because not all of it can be used.
 */
export function newEngine(memoryBytes: number): Promise<QuickJSWASMModule> {
  const maximum = Math.min(FIRST_PAGES + Math.ceil((memoryBytes * 1.25) / PAGE), MAX_PAGES)
  return newQuickJSWASMModuleFromVariant(newVariant(quickJs(), { wasmMemory: new WebAssembly.Memory({ initial: FIRST_PAGES, maximum }) }))
}

/** The most that the engine declares. */
const MAX_PAGES = 32_768

function quickJs(): QuickJSSyncVariant {
  // The variant's types describe its CommonJS form, in which it is one level deeper.
  const given: unknown = variant
  if (!isVariant(given)) throw new TypeError('The QuickJS variant has another form.')
  return given
}

function isVariant(value: unknown): value is QuickJSSyncVariant {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'sync'
}
