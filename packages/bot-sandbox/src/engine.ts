import variant from '@jitl/quickjs-ng-wasmfile-release-sync'
import { newQuickJSWASMModuleFromVariant, type QuickJSSyncVariant, type QuickJSWASMModule } from 'quickjs-emscripten-core'

/** Starts a JavaScript engine: an instance of QuickJS with a WebAssembly memory of its own. */
export function newEngine(): Promise<QuickJSWASMModule> {
  // The variant's types describe its CommonJS form, in which it is one level deeper.
  const given: unknown = variant
  if (!isVariant(given)) throw new TypeError('The QuickJS variant has another form.')
  return newQuickJSWASMModuleFromVariant(given)
}

function isVariant(value: unknown): value is QuickJSSyncVariant {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'sync'
}
