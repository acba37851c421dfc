import { setTimeout as after } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { rounds } from '../../../test/effort.js'
import { openBotSandbox } from '@fhir-ops/bot-sandbox'
import { createRealm } from '../src/realm.js'
import { runCode as runIn } from '../src/run-code.js'
import { LIMITS, prelude, runCode } from './runs.js'

const sandbox = openBotSandbox({ workers: 1 })
afterAll(() => sandbox.close())

const nobody = { read: async () => ({ from: 'nobody' }), search: async () => [], write: async () => ({}) }

describe('what a run leaves behind is not there in the next', () => {
  const LEFT: readonly (readonly [string, string, string])[] = [
    ['a global', 'globalThis.left = 1', 'typeof left'],
    ['a global constant of the script', '}; const left = 1; {', 'typeof left'],
    ['a changed prototype', 'Object.prototype.left = 1', 'typeof ({}).left'],
    ['a replaced builtin', 'Array.prototype.map = () => ["left"]', '[1].map(() => typeof undefined)[0]'],
    [
      'a frozen builtin',
      'Object.freeze(Array.prototype); Object.preventExtensions(Math)',
      '((Array.prototype.left = 1), (Math.left = 1), typeof undefined)',
    ],
    [
      'a removed global',
      'delete globalThis.JSON; delete globalThis.parseHl7',
      '(typeof JSON === "object" && typeof parseHl7 === "function" ? "undefined" : "gone")',
    ],
    ['a registered symbol', 'Symbol.for("left").description; globalThis[Symbol.for("left")] = 1', 'typeof globalThis[Symbol.for("left")]'],
    ['a static of a regular expression', '/le(ft)/.exec("left")', '(RegExp.$1 === "ft" ? "left" : "undefined")'],
    [
      'lastIndex of a literal',
      'for (const r of [/a/g]) r.exec("aa")',
      '(() => { const r = /a/g; return r.lastIndex === 0 ? "undefined" : "left" })()',
    ],
    ['the tag of a template', 'globalThis.tag = (s) => s; tag`left`', 'typeof globalThis.tag'],
    [
      'a job that was not run',
      'Promise.resolve().then(() => { globalThis.left = 1 }); for (let i = 0; i < 5000; i++) Promise.resolve().then(() => 0)',
      'typeof left',
    ],
    ['a timer', 'setTimeout(() => { globalThis.left = 1 }, 0)', 'typeof left'],
    [
      'a finalizer',
      'globalThis.registry = new FinalizationRegistry(() => { globalThis.left = 1 }); registry.register({}, 1)',
      'typeof left',
    ],
    ['what it threw', 'throw Object.assign(new Error("left"), { left: globalThis })', 'typeof left'],
    [
      'a class with static state',
      'Error.stackTraceLimit = 1; Error.prepareStackTrace = () => "left"',
      '(Error.stackTraceLimit === 1 ? "left" : typeof Error.prepareStackTrace)',
    ],
    ['a changed console', 'console.log = 1; console.left = 1', '(typeof console.log === "function" ? typeof console.left : "gone")'],
    ['a changed HL7 message class', 'Object.getPrototypeOf(parseHl7("MSH|^~\\\\&|A")).left = 1', 'typeof parseHl7("MSH|^~\\\\&|A").left'],
    [
      'a changed generator prototype',
      'Object.getPrototypeOf(function* () {}).left = 1',
      'typeof Object.getPrototypeOf(function* () {}).left',
    ],
    ['a changed async prototype', 'Object.getPrototypeOf(async () => {}).left = 1', 'typeof Object.getPrototypeOf(async () => {}).left'],
    ['a changed iterator', 'Array.prototype[Symbol.iterator] = function* () { yield "left" }', '[...[typeof undefined]][0]'],
  ]

  test.each(LEFT)('%s', async (_, leave, look) => {
    await runCode(sandbox, `exports.handler = (event, context) => { ${leave} }`).catch(() => undefined)
    expect(await runCode(sandbox, `exports.handler = () => ${look}`)).toBe('undefined')
  })

  test('the answer to a call that it did not wait for', async () => {
    const gate = Promise.withResolvers<void>()
    const slow = { ...nobody, read: () => gate.promise.then(() => ({ from: 'first' })) }
    await runCode(sandbox, 'exports.handler = (event, { storage }) => { storage.read("a", "b"); return 1 }', {
      capabilities: { storage: slow },
    })
    const own = {
      ...nobody,
      read: async () => {
        gate.resolve()
        await after(50)
        return { from: 'second' }
      },
    }
    const second = await runCode(sandbox, 'exports.handler = (event, { storage }) => storage.read("a", "b")', {
      capabilities: { storage: own },
    })
    expect(second).toEqual({ from: 'second' })
  })

  test('what was granted', async () => {
    const look = 'exports.handler = (event, context) => Object.keys(context).join()'
    expect(await runCode(sandbox, look, { capabilities: { storage: nobody } })).toBe('log,storage')
    expect(await runCode(sandbox, look)).toBe('log')
    const call = 'exports.handler = (event, { storage }) => storage.read("a", "b")'
    expect(await runCode(sandbox, call, { capabilities: { storage: { ...nobody, read: async () => ({ from: 'mine' }) } } })).toEqual({
      from: 'mine',
    })
  })

  test('a bot that the same code counted in', async () => {
    const count = 'globalThis.n = (globalThis.n ?? 0) + 1; let calls = 0; exports.handler = () => [globalThis.n, ++calls]'
    for (let i = 0; i < 5; i++) expect(await runCode(sandbox, count)).toEqual([1, 1])
  })
})

describe('a module is compiled once, and evaluated in each run', () => {
  test('so that it counts from the beginning', async () => {
    const count = 'globalThis.n = (globalThis.n ?? 0) + 1; let calls = 0; export const handler = () => [globalThis.n, ++calls]'
    for (let i = 0; i < 5; i++) expect(await runCode(sandbox, count)).toEqual([1, 1])
  })

  test('with random numbers and a clock of the run', async () => {
    const code = 'const made = [Math.random(), performance.now()]; export const handler = () => made'
    await runCode(sandbox, code)
    await after(300)
    const begun = performance.now()
    const runs = await Promise.all([1, 2, 3, 4].map(() => runCode(sandbox, code)))
    const taken = performance.now() - begun
    expect(new Set(runs.map((run) => (Array.isArray(run) ? run[0] : undefined))).size).toBe(4)
    // The clock of the thread would be 300 ms ahead.
    for (const run of runs) expect(Array.isArray(run) ? run[1] : undefined).toBeLessThan(taken + 50)
  })

  test('beside others of the same length, in any order', async () => {
    const codes = ['a', 'b', 'c'].map((name) => `export default () => '${name}'; export const name = import.meta`)
    const asked = [0, 1, 2, 0, 2, 1, 1, 0]
    const given = await Promise.all(asked.map((at) => runCode(sandbox, codes[at] ?? '')))
    expect(given).toEqual(asked.map((at) => ['a', 'b', 'c'][at]))
  })

  test('after what others left, and after their failures', async () => {
    const good = 'const first = await Promise.resolve([...[1]]); export const handler = () => [first, typeof left]'
    const bad = [
      'Array.prototype[Symbol.iterator] = 1; globalThis.left = 1; export const handler = () => 1',
      'throw new Error("left"); export const handler = 1',
      'import left from "./left.js"; export const handler = () => left',
      'export const handler = () => (',
    ]
    for (const code of [...bad, ...bad]) {
      expect(await runCode(sandbox, good)).toEqual([[1], 'undefined'])
      await runCode(sandbox, code).catch(() => undefined)
    }
  })

  test('however large it is, and however many there are', async () => {
    const large = (at: number): string =>
      `${Array.from({ length: 3_000 }, (_, n) => `const c${n} = { a: ${n}, b: ['${at}'] }`).join(';')}; export const handler = () => c2999.b[0]`
    for (const at of [0, 1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 0]) expect(await runCode(sandbox, large(at))).toBe(String(at))
  })
})

describe('a script is compiled once, as the body of a function, and run in each run', () => {
  test('so that it counts from the beginning, beside others', async () => {
    const counting = (name: string): string => `let calls = 0; exports.handler = () => ['${name}', ++calls, typeof calls]`
    for (const name of ['a', 'b', 'a', 'a', 'b']) expect(await runCode(sandbox, counting(name))).toEqual([name, 1, 'number'])
  })

  test('in which this is the global object', async () => {
    const code = 'this.left = typeof left; var own = 1; exports.handler = () => [left, this === globalThis, typeof globalThis.own]'
    for (let i = 0; i < 3; i++) expect(await runCode(sandbox, code)).toEqual(['undefined', true, 'undefined'])
  })

  test('which it cannot end', async () => {
    const good = 'exports.handler = () => typeof left'
    for (const code of [
      '}); globalThis.left = 1; (function () {',
      '} + (globalThis.left = 1)); (function () {',
      '--> }); globalThis.left = 1; (function () {',
    ]) {
      const failure = await runCode(sandbox, code).catch((error: unknown) => error)
      expect(failure).toMatchObject({ code: 'bot-failed' })
      expect(await runCode(sandbox, good)).toBe('undefined')
    }
  })

  test('also where it cannot be one, or ends in a comment', async () => {
    for (let i = 0; i < 2; i++) {
      expect(await runCode(sandbox, '#!/usr/bin/env node\nexports.handler = () => 1')).toBe(1)
      expect(await runCode(sandbox, 'exports.handler = () => 2 // two')).toBe(2)
    }
  })

  test('with the lines of its source in what it throws', async () => {
    const failure = await runCode(sandbox, 'const a = 1\nexports.handler = () => { throw new Error("late") }').catch(
      (error: unknown) => error,
    )
    expect(failure).toMatchObject({ detail: { diagnostics: expect.stringContaining('bot.js:2') } })
  })
})

describe('a code is sent to a thread once', () => {
  test('however many there are, in any order', async () => {
    const code = (at: number): string => `/* ${'x'.repeat(200_000)} */ exports.handler = () => ${at}`
    const asked = [0, 0, ...Array.from({ length: 14 }, (_, at) => at), 0, 13, 1, 0]
    expect(await Promise.all(asked.map((at) => runCode(sandbox, code(at))))).toEqual(asked)
  })

  test('also to one that takes the place of another', async () => {
    const code = 'exports.handler = ({ input }) => { for (; input.loops;); return 1 }'
    const loops = (is: boolean) => runCode(sandbox, code, { event: { input: { loops: is } }, limits: { timeoutMs: is ? 50 : 100_000 } })
    for (let i = 0; i < 2; i++) {
      expect(await loops(false)).toBe(1)
      expect(await loops(true).catch((error: unknown) => error)).toMatchObject({ code: 'bot-timeout' })
    }
    expect(await loops(false)).toBe(1)
  })
})

describe('every run has', () => {
  test('random numbers of its own, spread evenly', async () => {
    const code = 'exports.handler = () => Array.from({ length: 1000 }, Math.random)'
    const runs = await Promise.all([1, 2, 3].map(() => runCode(sandbox, code)))
    const all = runs.flatMap((run) => (Array.isArray(run) ? run.map(Number) : []))
    expect(new Set(all).size).toBe(3_000)
    expect(all.every((number) => number >= 0 && number < 1)).toBe(true)
    const mean = all.reduce((sum, number) => sum + number, 0) / all.length
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.05)
  })

  test('a clock that begins with it', async () => {
    const code = 'exports.handler = () => ({ now: performance.now(), origin: performance.timeOrigin })'
    await runCode(sandbox, code)
    await after(300)
    const [begun, date] = [performance.now(), Date.now()]
    const run = await runCode(sandbox, code)
    const taken = performance.now() - begun
    // The clock of the thread would be 300 ms ahead.
    expect(run).toEqual({
      now: expect.toSatisfy((ms: number) => ms < taken + 50),
      origin: expect.toSatisfy((ms: number) => ms > date - 50 && ms < date + taken + 50),
    })
  })
})

describe('the memory of the engine', () => {
  const event = [JSON.stringify({ event: { input: { secret: 'x' } } })]
  const message = (code: string) => ({ type: 'run', run: 1, code, event, grants: {}, limits: LIMITS }) as const
  const io = { call: () => {}, nextReply: async () => undefined, onLook: () => {} }

  test('is byte for byte the same after each run, also above what it was', async () => {
    const realm = await createRealm({ prelude: prelude(), grants: {}, memoryBytes: LIMITS.memoryBytes })
    realm.reset()
    const before = Buffer.from(realm.memory.buffer).toString('latin1')
    const code =
      'const kept = []; for (let i = 0; i < 20000; i++) kept.push({ i, text: "SECRET" + i }); exports.handler = () => kept.length'
    const done = await runIn(message(code), { realm, ...io })
    expect(done).toMatchObject({ outcome: { value: '20000' }, isReusable: true })
    realm.reset()
    const after = Buffer.from(realm.memory.buffer).toString('latin1')
    expect(after.includes('SECRET')).toBe(false)
    expect(after === before).toBe(true)
  })

  test('is the same after runs of modules, of which it keeps what they were compiled to', async () => {
    const realm = await createRealm({ prelude: prelude(), grants: {}, memoryBytes: LIMITS.memoryBytes })
    const before = Buffer.from(realm.memory.buffer).toString('latin1')
    for (const name of ['SECRET1', 'SECRET2', 'SECRET1', 'SECRET2']) {
      const done = await runIn(message(`export const handler = () => '${name}'`), { realm, ...io })
      expect(done).toMatchObject({ outcome: { value: `"${name}"` }, isReusable: true })
      realm.reset()
      expect(Buffer.from(realm.memory.buffer).toString('latin1') === before).toBe(true)
    }
  })

  test('keeps what sources are compiled to, also where they are as long as they may be', async () => {
    const realm = await createRealm({ prelude: prelude(), grants: {}, memoryBytes: LIMITS.memoryBytes })
    const helper = (at: number): string =>
      `function helper${at}(a, b) { return [a, b, ${at}].map((x) => x + ${at}).filter((x) => x > 3) }\n`
    const helpers = Array.from({ length: 2_800 }, (_, at) => helper(at)).join('')
    expect(helpers.length).toBeGreaterThan(0.9 * LIMITS.sourceBytes)
    for (const [end, kind] of [
      ['exports.handler = () => helper7(1, 2)', 'script'],
      ['export const handler = () => helper7(1, 2)', 'module'],
    ] as const) {
      for (let i = 0; i < 3; i++) {
        expect(await runIn(message(helpers + end), { realm, ...io })).toMatchObject({ outcome: { value: '[8,9,14]' }, isReusable: true })
        realm.reset()
        expect(realm.prepare(helpers + end).kind).toBe(kind)
        realm.reset()
      }
    }
  })

  test('makes the thread end when it has grown, and never grows far above the limit', async () => {
    const realm = await createRealm({ prelude: prelude(), grants: {}, memoryBytes: LIMITS.memoryBytes })
    const large = await runIn(message('exports.handler = () => new Uint8Array(20_000_000).length'), { realm, ...io })
    expect(large).toMatchObject({ outcome: { value: '20000000' }, isReusable: false })
    const bounded = await createRealm({ prelude: prelude(), grants: {}, memoryBytes: 8_000_000 })
    const unlimited = { ...message('exports.handler = () => new Uint8Array(100_000_000).length'), limits: { ...LIMITS, memoryBytes: 1e9 } }
    expect(await runIn(unlimited, { realm: bounded, ...io })).toMatchObject({ outcome: { code: 'bot-too-costly' } })
    expect(bounded.memory.buffer.byteLength).toBeLessThan(32_000_000)
  })

  test('is given back by bots that used it up', async () => {
    const code = 'exports.handler = () => { const a = []; for (;;) a.push(new Uint8Array(1_000_000).fill(1)) }'
    const used = (): number => process.memoryUsage.rss()
    await runCode(sandbox, 'exports.handler = () => 1')
    const before = used()
    for (let i = 0; i < rounds({ quick: 5, all: 8 }); i++) await runCode(sandbox, code).catch(() => undefined)
    await runCode(sandbox, 'exports.handler = () => 1')
    expect(used() - before).toBeLessThan(200_000_000)
  })
})
