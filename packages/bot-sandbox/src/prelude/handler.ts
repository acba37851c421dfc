type Handler = (event: unknown, context: unknown) => unknown

/** Lets a script export: `exports.handler = ...` or `module.exports = ...`. Gives what the script has exported by now. */
export function installExports(): () => unknown {
  const module: { exports: unknown } = { exports: {} }
  Object.defineProperty(globalThis, 'module', { value: module, writable: true, configurable: true })
  Object.defineProperty(globalThis, 'exports', { value: module.exports, writable: true, configurable: true })
  return () => module.exports
}

/** The handler of loaded code: the export `handler`, the default export or its `handler`, or the exported function itself. */
export function handlerOf(loaded: unknown, exported: unknown): Handler {
  const source = isModule(loaded) ? loaded : exported
  const named = member(source, 'handler')
  if (isHandler(named)) return named
  const standard = member(source, 'default')
  if (isHandler(standard)) return standard
  const inner = member(standard, 'handler')
  if (isHandler(inner)) return inner
  if (isHandler(source)) return source
  throw new TypeError('The code exports no handler(event, context).')
}

function isModule(loaded: unknown): boolean {
  return typeof loaded === 'object' && loaded !== null && Reflect.get(loaded, Symbol.toStringTag) === 'Module'
}

function member(source: unknown, name: string): unknown {
  const holds = (typeof source === 'object' && source !== null) || typeof source === 'function'
  return holds ? Reflect.get(source, name) : undefined
}

function isHandler(value: unknown): value is Handler {
  return typeof value === 'function'
}
