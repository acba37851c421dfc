import { afterAll, describe, expect, test } from 'vitest'
import { openBotSandbox } from '@fhir-ops/bot-sandbox'
import { runCode } from './runs.js'

const sandbox = openBotSandbox({ workers: 1 })
afterAll(() => sandbox.close())

const HOST_NAMES = [
  'process',
  'require',
  'Buffer',
  'global',
  'fetch',
  'XMLHttpRequest',
  'WebSocket',
  'EventSource',
  'Worker',
  'SharedWorker',
  'MessageChannel',
  'WebAssembly',
  'SharedArrayBuffer',
  'Atomics',
  'importScripts',
  'postMessage',
  'navigator',
  'crypto',
  'Deno',
  'Bun',
  'std',
  'os',
  'scriptArgs',
  'print',
  'load',
  'gc',
  '__dirname',
  'setImmediate',
]

/** Ways to get hold of a global object, a function constructor or a value of the host. Each gives what it got. */
const ATTEMPTS: readonly (readonly [string, string])[] = [
  ['the constructor chain of this', 'return this?.constructor.constructor("return this")() ?? globalThis'],
  ['the constructor chain of globalThis', 'return globalThis.constructor.constructor("return this")()'],
  ['the constructor chain of the event', 'return event.constructor.constructor("return this")()'],
  ['the constructor chain of the input', 'return event.input.constructor.constructor("return this")()'],
  ['the constructor chain of the context', 'return context.constructor.constructor("return this")()'],
  ['the constructor chain of context.log', 'return context.log.constructor("return this")()'],
  ['the constructor chain of a capability', 'return context.storage.read.constructor("return this")()'],
  [
    'the constructor chain of a promise of the host',
    'return context.storage.read("Patient", "1").constructor.constructor("return this")()',
  ],
  [
    'the constructor chain of an answer of the host',
    'return (await context.storage.read("Patient", "1")).constructor.constructor("return this")()',
  ],
  ['the constructor chain of console', 'return console.log.constructor("return this")()'],
  ['the constructor chain of exports', 'return exports.constructor.constructor("return this")()'],
  ['the constructor chain of module', 'return module.constructor.constructor("return this")()'],
  ['the constructor chain of parseHl7', 'return parseHl7.constructor("return this")()'],
  ['the constructor chain of a message', 'return parseHl7("MSH|^~\\\\&|A").get.constructor("return this")()'],
  ['the constructor chain of botResponse', 'return botResponse({}).constructor.constructor("return this")()'],
  ['the constructor of async functions', 'return (async () => {}).constructor("return this")()'],
  ['the constructor of generators', 'return (function* () {}).constructor("return this")().next().value'],
  ['the constructor of async generators', 'return (await (async function* () {}).constructor("yield this")().next()).value'],
  ['indirect eval', 'return (0, eval)("this")'],
  ['new Function', 'return new Function("return this")()'],
  ['a sloppy function', 'return Function("return (function () { return this })()")()'],
  ['a timer', 'return new Promise((resolve) => setTimeout(function () { resolve(this ?? globalThis) }, 1))'],
  [
    'Error.prepareStackTrace',
    'Error.prepareStackTrace = (e, sites) => sites; const [site] = new Error().stack; return site?.getThis?.() ?? globalThis',
  ],
  [
    'an error of the host',
    'try { await context.storage.write({}) } catch (error) { return error.constructor.constructor("return this")() }',
  ],
  [
    'an error of deep recursion',
    'const f = () => f(); try { f() } catch (error) { return error.constructor.constructor("return this")() }',
  ],
  [
    'an error whose name is a symbol',
    'const error = new Error(); error.name = Symbol(); try { throw error } catch (e) { context.log(e); return e.constructor.constructor("return this")() }',
  ],
  ['an error of JSON', 'try { JSON.parse("{") } catch (error) { return error.constructor.constructor("return this")() }'],
  ['Function.caller', 'function f() { return f.caller } return f()?.constructor("return this")() ?? globalThis'],
  [
    'arguments.callee.caller',
    'const f = Function("return arguments.callee.caller"); return f()?.constructor("return this")() ?? globalThis',
  ],
  ['a thenable', 'return new Promise((resolve) => resolve({ then(ok) { ok(ok.constructor("return this")()) } }))'],
  [
    'the species of promises',
    'let got; class P extends Promise { constructor(run) { super((a, b) => { got = a.constructor("return this")(); run(a, b) }) } static get [Symbol.species]() { return P } } await P.resolve(1).then(); return got',
  ],
  [
    'a replaced Promise.prototype.then',
    'let got; Promise.prototype.then = function (ok) { got = ok?.constructor("return this")(); return this }; await null; return got ?? globalThis',
  ],
  [
    'a Proxy as argument',
    'let got; context.log(new Proxy({}, { get(t, k) { got = Function("return this")(); return undefined } })); return got ?? globalThis',
  ],
  [
    'a Proxy as argument of a capability',
    'let got; await context.storage.read(new Proxy({}, { get(t, k, r) { got = r; return undefined } }), "x"); return got ?? globalThis',
  ],
  ['import of a module', 'return import("node:fs")'],
  ['import of a data URL', 'return import("data:text/javascript,export default globalThis")'],
  ['import of bot.js', 'return import("bot.js")'],
  ['require', 'return require("child_process")'],
  ['process.getBuiltinModule', 'return process.getBuiltinModule("fs")'],
  [
    'a getter on Object.prototype',
    'let got; Object.defineProperty(Object.prototype, "host", { get() { got = this }, configurable: true }); await context.storage.read("a", "b"); return got ?? globalThis',
  ],
  [
    'replaced array methods',
    'let got; for (const name of ["map", "find", "join", "push"]) { const own = Array.prototype[name]; Array.prototype[name] = function (...args) { got ??= args.find?.((a) => typeof a === "function")?.constructor("return this")(); return own.apply(this, args) } } context.log("a"); return got ?? globalThis',
  ],
  [
    'a setter on Object.prototype',
    'let got; Object.defineProperty(Object.prototype, "resolve", { set(v) { got = v }, configurable: true }); await context.storage.read("a", "b"); return got?.constructor("return this")() ?? globalThis',
  ],
]

const storage = {
  read: async (type: string, id: string) => ({ resourceType: type, id }),
  search: async () => [],
  write: async () => {
    throw new Error('of the host')
  },
}

const probe = (attempt: string) => `
const mine = globalThis, names = ${JSON.stringify(HOST_NAMES)}, { stringify } = JSON
async function attempt(event, context) { ${attempt} }
exports.handler = async function (event, context) {
  let got
  try { got = await attempt.call(undefined, event, context) } catch (error) { got = error }
  const seen = [got, got?.constructor?.constructor?.('return this')?.(), got?.default]
  return stringify(seen.flatMap((one) => (one === undefined || one === null ? [] : names.filter((name) => one[name] !== undefined))))
}`

describe('nothing of the host is reached by', () => {
  test.each(ATTEMPTS)('%s', async (_, attempt) => {
    const found = await runCode(sandbox, probe(attempt), { capabilities: { storage } }).catch((error: { code: string }) => error.code)
    // A bot that broke its own builtins may also just fail.
    expect(['[]', 'bot-failed']).toContain(found)
  })
})

test('the probe would see a name of the host', async () => {
  expect(await runCode(sandbox, probe('return { process: 1, fetch: 2 }'))).toBe('["process","fetch"]')
})

test('the globals are those of the language and the documented few', async () => {
  const names = await runCode(sandbox, `export const handler = () => ${JSON.stringify(HOST_NAMES)}.filter((name) => name in globalThis)`)
  expect(names).toEqual([])
})

describe('a result that plays tricks stays data', () => {
  const globals = () => [
    Object.keys(Object.prototype),
    Object.getOwnPropertyNames(Object.prototype).length,
    Object.getOwnPropertyNames(Array.prototype).length,
  ]

  test.each([
    ['toJSON that gives another kind', '({ toJSON: () => "text" })', 'text'],
    ['own __proto__', 'JSON.parse(\'{"__proto__":{"polluted":1}}\')', JSON.parse('{"__proto__":{"polluted":1}}')],
    ['constructor.prototype', '({ constructor: { prototype: { polluted: 1 } } })', { constructor: { prototype: { polluted: 1 } } }],
    ['a Proxy', 'new Proxy({ a: 1 }, {})', { a: 1 }],
    [
      'what looks like an answer',
      '({ kind: "hl7", value: "x", response: { status: 500 } })',
      { kind: 'hl7', value: 'x', response: { status: 500 } },
    ],
    ['a thenable', '({ then(ok) { ok(7) } })', 7],
  ])('%s', async (_, expression, expected) => {
    const before = globals()
    expect(await runCode(sandbox, `export const handler = () => (${expression})`)).toEqual(expected)
    expect(globals()).toEqual(before)
  })

  test.each([
    ['JSON.stringify', 'JSON.stringify = () => "{\\"kind\\":\\"text\\",\\"value\\":\\"forged\\"}"'],
    ['JSON.parse', 'JSON.parse = () => ({})'],
    ['Object.prototype.toJSON', 'Object.prototype.toJSON = () => "forged"'],
    ['Symbol.hasInstance', 'Object.defineProperty(Object, Symbol.hasInstance, { value: () => true })'],
  ])('replaced %s harms nobody but the bot', async (_, code) => {
    await runCode(sandbox, `${code}; exports.handler = () => ({ a: 1 })`).catch(() => undefined)
    expect(await runCode(sandbox, 'export const handler = (event) => event.input')).toEqual({ a: 1 })
  })
})

describe('no state survives a run', () => {
  test.each([
    ['globals', 'globalThis.left = 1', 'typeof left'],
    ['Object.prototype', 'Object.prototype.left = 1', 'typeof ({}).left'],
    ['builtins', 'Array.prototype.map = () => "replaced"', '[1].map((x) => x)[0]'],
    ['the input', 'exports.left = 1', 'typeof exports.left'],
    ['timers', 'setInterval(() => context.log("left"), 1)', '"undefined"'],
    ['console', 'console.log = 1', 'typeof console.log'],
  ])('%s', async (_, leave, look) => {
    const log: string[] = []
    await runCode(sandbox, `exports.handler = (event, context) => { ${leave} }`)
    const seen = await runCode(sandbox, `exports.handler = () => ${look}`, { log })
    expect(['undefined', 'function', 1]).toContain(seen)
    expect(log).toEqual([])
  })
})
