import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openBotSandbox } from '@fhir-ops/bot-sandbox'
import { representative } from '../../../test/effort.js'
import { runCode } from './runs.js'

const sandbox = openBotSandbox({ workers: 1 })
beforeAll(() => runCode(sandbox, 'export const handler = () => 1'))
afterAll(() => sandbox.close())

const timeoutMs = 250
const LIMITS = ['bot-timeout', 'bot-too-costly', 'bot-failed']

/** Each ends with one of our codes, at the latest at the limit. */
const HUNGRY: readonly (readonly [string, string])[] = [
  ['a loop', 'for (;;);'],
  ['a loop that catches', 'for (;;) try { for (;;); } catch {}'],
  ['a loop in finally', 'try { for (;;); } finally { for (;;); }'],
  ['a loop while loading', '}; for (;;); { '],
  ['a loop of awaits', 'for (;;) await 0'],
  ['a loop of microtasks', 'const f = () => queueMicrotask(f); f(); return new Promise(() => {})'],
  [
    'a thousand chains of promises',
    'const f = () => Promise.resolve().then(f); for (let i = 0; i < 1000; i++) f(); return new Promise(() => {})',
  ],
  ['a loop of timers', 'const f = () => setTimeout(f, 0); f(); return new Promise(() => {})'],
  ['an interval', 'setInterval(() => {}, 1); return new Promise(() => {})'],
  ['a timer beyond the limit', 'return new Promise((resolve) => setTimeout(resolve, 1e6))'],
  ['a promise that never settles', 'return new Promise(() => {})'],
  ['a thenable that never settles', 'return { then() {} }'],
  ['a thenable that gives itself', 'const t = { then(ok) { ok(t) } }; return t'],
  ['deep recursion', 'const f = () => f() + 1; return f()'],
  ['recursion through getters', 'const o = { get a() { return this.a } }; return o'],
  ['recursion through toJSON', 'const o = { toJSON() { return { o } } }; return o'],
  ['recursion through a Proxy', 'const p = new Proxy({}, { get: (t, k, r) => r[k] }); return p.x'],
  ['catastrophic regex', 'return /^(a+)+$/.test("a".repeat(60) + "!")'],
  ['arrays', 'const a = []; for (;;) a.push(new Array(1000).fill(1))'],
  ['objects', 'let o = {}; for (;;) o = { o, p: {} }'],
  ['strings', 'let s = "x"; for (;;) s += s + "y"'],
  ['kept strings', 'const a = []; for (let i = 0; ; i++) a.push(("x" + i).repeat(1e5))'],
  ['maps', 'const m = new Map(); for (let i = 0; ; i++) m.set(i, {})'],
  ['buffers', 'const a = []; for (;;) a.push(new ArrayBuffer(1e6))'],
  ['one huge buffer', 'return new ArrayBuffer(1e9).byteLength'],
  ['one huge array', 'return new Array(2 ** 32 - 1).join("x").length'],
  ['a filled array', 'return new Array(2 ** 31).fill(0).length'],
  ['a sort without order', 'return new Array(1e7).fill(0).map(Math.random).sort(() => Math.random() - 0.5).length'],
  ['big integers', 'let n = 3n; for (;;) n *= n'],
  ['a huge power', 'return String(7n ** 3000000n).length'],
  ['padStart', 'return "x".padStart(2 ** 30 - 2, "abc").replace(/a/g, "bb").length'],
  ['WebAssembly', 'return new WebAssembly.Memory({ initial: 65536 })'],
  ['SharedArrayBuffer', 'return Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)'],
  ['code that makes code', 'const f = (n) => new Function("f", "n", "return f(n + 1)")(f, n); return f(0)'],
  ['a flood of output', 'return "x".repeat(5e6).split("").map(() => "0123456789").join("").slice(0, 40e6)'],
  ['a flood of log', 'for (;;) context.log("x".repeat(1000))'],
  ['a flood of empty log lines', 'for (;;) context.log("")'],
  ['one long log line', 'context.log("x".repeat(70_000)); return 1'],
  ['a deep result', 'let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; return o'],
  ['a cyclic result', 'const o = {}; o.o = o; return o'],
  ['a BigInt', 'return 1n'],
  ['a BigInt inside', 'return { a: [1n] }'],
  ['a function', 'return () => 1'],
  ['a symbol', 'return Symbol("x")'],
  ['a throwing getter', 'return { get a() { throw new Error("x") } }'],
  ['a throwing toJSON', 'return { toJSON() { throw new Error("x") } }'],
  ['a throwing Proxy', 'return new Proxy({}, { ownKeys() { throw new Error("x") } })'],
  ['a looping getter', 'return { get a() { for (;;); } }'],
  ['a revoked Proxy', 'const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy'],
  ['thrown null', 'throw null'],
  ['thrown undefined', 'throw undefined'],
  ['a thrown Proxy', 'throw new Proxy({}, { get() { for (;;); } })'],
  ['a thrown error that throws', 'throw { get message() { throw 1 }, toString() { throw 2 }, toJSON() { throw 3 } }'],
  ['a rejected promise', 'return Promise.reject(new Error("x"))'],
  ['an unhandled rejection', 'Promise.reject(new Error("x")); throw new Error("y")'],
  ['process.exit', 'process.exit(1)'],
  ['process.abort', 'process.abort()'],
  ['process.kill', 'process.kill(process.pid, 9)'],
]

describe('ends with a failure at its limit, and the next bot runs', () => {
  test.each(representative(HUNGRY, { every: 6 }))('%s', async (_, body) => {
    const failure = await runCode(sandbox, `exports.handler = async (event, context) => { ${body} }`, { limits: { timeoutMs } }).then(
      (value) => value,
      (error: { code: string }) => error.code,
    )
    expect(LIMITS).toContain(failure)
    expect(await runCode(sandbox, 'export const handler = (event) => event.input.a')).toBe(1)
  })
})

describe('the limits are exact', () => {
  test('log', async () => {
    const flood = (bytes: number) =>
      runCode(sandbox, `export const handler = (e, { log }) => { log("é".repeat(${bytes / 2})); return "ok" }`, {
        limits: { logBytes: 1_001 },
      })
    expect(await flood(1_000)).toBe('ok')
    await expect(flood(1_002)).rejects.toMatchObject({ code: 'bot-too-costly' })
  })

  test('what it returns, also as short lists that are long as JSON', async () => {
    const lists = (count: number) =>
      runCode(sandbox, `export const handler = () => Array.from({ length: ${count} }, () => [])`, { limits: { outputBytes: 301 } })
    expect(await lists(100)).toHaveLength(100)
    await expect(lists(101)).rejects.toMatchObject({ code: 'bot-too-costly', message: 'The bot returned more than 301 bytes.' })
  })

  test('what it passes to a call', async () => {
    const capabilities = { storage: { read: async () => ({ resourceType: 'Basic' }), search: async () => [], write: async () => ({}) } }
    const pass = (length: number) =>
      runCode(sandbox, `export const handler = (e, { storage }) => storage.read("Basic", "x".repeat(${length}))`, {
        capabilities,
        limits: { outputBytes: 100 },
      })
    expect(await pass(88)).toEqual({ resourceType: 'Basic' })
    await expect(pass(89)).rejects.toMatchObject({ code: 'bot-too-costly', message: 'The bot passed more than 100 bytes to a call.' })
  })

  test('memory: what is well below runs, what is above is named', async () => {
    const take = (bytes: number) =>
      runCode(sandbox, `export const handler = () => new Uint8Array(${bytes}).length`, { limits: { memoryBytes: 8_000_000 } })
    expect(await take(6_000_000)).toBe(6_000_000)
    await expect(take(8_000_000)).rejects.toMatchObject({
      code: 'bot-too-costly',
      message: expect.stringContaining('8000000 bytes of memory'),
    })
  })
})
