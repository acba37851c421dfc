import { isBotResponse } from 'fhir-ops/execute'
import { isHl7Message, parseHl7 } from 'fhir-ops/hl7v2'
import { OperationError } from 'fhir-ops/errors'
import { afterAll, describe, expect, test } from 'vitest'
import { openBotSandbox } from '@fhir-ops/bot-sandbox'
import { runCode } from './runs.js'

const sandbox = openBotSandbox({ workers: 1 })
afterAll(() => sandbox.close())

describe('a handler may be', () => {
  test.each([
    'export function handler(event) { return event.input.a }',
    'export async function handler(event) { return event.input.a }',
    'export const handler = (event) => event.input.a',
    'export default (event) => event.input.a',
    'export default { handler: (event) => event.input.a }',
    'const a = await Promise.resolve(1); export const handler = () => a',
    'const load = async () => { for (let n = 0; n < 3; n++) await null; exports.handler = () => 1 }; load()',
    'exports.handler = async (event) => event.input.a',
    'module.exports = (event) => event.input.a',
    'module.exports = { handler: (event) => event.input.a }',
    'with ({ x: 1 }) { exports.handler = () => x }',
    '// a script that says export default in a comment\nexports.handler = (event) => event.input.a',
  ])('%s', async (code) => {
    expect(await runCode(sandbox, code)).toBe(1)
  })
})

describe('code that does not load fails', () => {
  test.each([
    ['syntax', 'export function handler( {'],
    ['empty', ''],
    ['no handler', 'export const other = () => 1'],
    ['a handler that is none', 'export const handler = 1'],
    ['throws', 'throw new Error("at load")'],
    ['imports a module', 'import fs from "node:fs"; export const handler = () => fs'],
    ['never loads', 'await new Promise(() => {}); export const handler = () => 1'],
    ['no text', '\u0000\u0001'],
  ])('%s', async (_, code) => {
    await expect(runCode(sandbox, code)).rejects.toMatchObject({ code: 'bot-failed' })
  })
})

describe('code that is only checked', () => {
  test.each([
    ['a module', 'export const handler = () => 1'],
    ['a script', 'exports.handler = () => 1'],
    ['code that would fail when it runs', 'throw new Error("at load")'],
    ['code that would never end', 'for (;;);'],
    ['a module that would never load', 'await new Promise(() => {}); export const handler = () => 1'],
    ['code that begins with #!', '#!/usr/bin/env node\nexports.handler = () => 1'],
  ])('%s passes, and none of it is run', async (_, code) => {
    await sandbox.check(code)
  })

  test.each([
    ['export function handler( {', ':1:2'],
    ['exports.handler = () => {\n  return )\n}', ':2:'],
  ])('%s is refused with the place of the error', async (code, place) => {
    await expect(sandbox.check(code)).rejects.toMatchObject({
      code: 'bot-failed',
      detail: { diagnostics: expect.stringMatching(new RegExp(`^SyntaxError: [^]*bot\\.js${place}`)) },
    })
  })
})

describe('what goes in and out', () => {
  test('values come back as they were returned', async () => {
    for (const value of ['text', '', 'lone \ud800', 0, false, [], {}, { resourceType: 'Patient' }, [null, 'é😀'], { __proto__x: 1 }]) {
      expect(await runCode(sandbox, `export const handler = () => (${JSON.stringify(value)})`)).toEqual(value)
    }
    for (const nothing of ['undefined', 'null']) expect(await runCode(sandbox, `export const handler = () => ${nothing}`)).toBeUndefined()
  })

  test('the event arrives whole', async () => {
    const event = {
      contentType: 'application/x-www-form-urlencoded',
      method: 'GET',
      query: { q: '1' },
      headers: { accept: '*/*' },
    } as const
    expect(await runCode(sandbox, 'export const handler = (event) => event', { event: { ...event, input: { f: 'x' } } })).toEqual({
      ...event,
      input: { f: 'x' },
      bot: { id: 'b' },
      requestId: 'r',
    })
  })

  test('the event is the same whether its input comes as a value or as JSON text', async () => {
    const input = { z: [1, 'é😀'], a: { b: null } }
    const code = 'export const handler = (event) => JSON.stringify(event)'
    const text = JSON.stringify(input, undefined, 2)
    const whole = await runCode(sandbox, code, { event: { input } })
    expect(await runCode(sandbox, code, { event: { input: 'is not read' }, inputText: text })).toBe(whole)
  })

  test('a map of texts has no prototype, and every name in it is data', async () => {
    const input = JSON.parse('{"__proto__":"p","constructor":"c"}')
    const event = { input, contentType: 'application/x-www-form-urlencoded' }
    const code =
      'export const handler = ({ input }) => [Object.getPrototypeOf(input), input.__proto__, input.constructor, input.toString === undefined]'
    expect(await runCode(sandbox, code, { event })).toEqual([null, 'p', 'c', true])
  })

  test('an input that JSON cannot represent is refused by name', async () => {
    const refused = runCode(sandbox, 'exports.handler = () => 1', { event: { input: { a: 5n } } })
    await expect(refused).rejects.toMatchObject({ code: 'parameter-value', expression: ['input'] })
  })

  test('an HL7 message is rebuilt inside, and comes back as one', async () => {
    const event = { input: parseHl7('MSH|^~\\&|A|B|C|D|1||ADT^A01|7|P|2.5\rPID|1||x\\T\\y'), contentType: 'x-application/hl7-v2+er7' }
    const code = (value: string) => `export const handler = ({ input }) => ${value}`
    expect(await runCode(sandbox, code('input.get("PID-3")'), { event })).toBe('x&y')
    const ack = await runCode(sandbox, code('input.ack({ code: "AA", controlId: "9", at: new Date(0) })'), { event })
    expect(isHl7Message(ack) && ack.toString()).toBe('MSH|^~\\&|C|D|A|B|19700101000000+0000||ACK^A01^ACK|9|P|2.5\rMSA|AA|7\r')
    expect(isHl7Message(await runCode(sandbox, 'export const handler = () => parseHl7("MSH|^~\\\\&|A").set("MSH-4", "B")'))).toBe(true)
    expect(await runCode(sandbox, code('({ message: input })'), { event })).toEqual({ message: event.input.toString() })
  })

  test('botResponse carries status, headers and a body', async () => {
    const response = await runCode(sandbox, 'export const handler = () => botResponse({ status: 404, headers: { ETag: "x" }, body: "no" })')
    expect(isBotResponse(response) && { ...response }).toMatchObject({ status: 404, headers: { ETag: 'x' }, body: 'no' })
  })

  test('log lines reach the host with their level', async () => {
    const log: string[] = []
    await runCode(
      sandbox,
      'export const handler = (e, { log }) => { log("a", { b: 1 }); console.warn("c"); console.error(new Error("d").message) }',
      { log },
    )
    expect(log).toEqual(['info a {"b":1}', 'warn c', 'error d'])
  })

  test('a bot that fails leaves its log, and its words are apart from ours', async () => {
    const log: string[] = []
    const failed = runCode(sandbox, 'export const handler = (e, { log }) => { log("before"); throw new RangeError("my words") }', { log })
    await expect(failed).rejects.toMatchObject({
      code: 'bot-failed',
      message: 'The bot failed.',
      detail: { diagnostics: expect.stringContaining('RangeError: my words') },
    })
    expect(log).toEqual(['info before'])
  })
})

describe('an answer stands, whatever the bot does after it:', () => {
  test.each([
    ['a loop', 'for (;;);'],
    ['more log than the limit', 'for (;;) context.log("x".repeat(10_000))'],
    ['a call', 'context.storage.read("", "")'],
    ['an error', 'throw new Error("late")'],
    ['a setter and a getter in every object', 'Object.defineProperty(Object.prototype, "answer", { set() {}, get: () => "{}\\n2" })'],
  ])('%s', async (_, later) => {
    const storage = { read: () => Promise.reject(new Error('called')), search: async () => [], write: async () => ({}) }
    const code = `export const handler = (event, context) => {
      const after = async () => { for (let turn = 0; turn < 100; turn++) await 0; ${later} }
      after()
      return 1
    }`
    expect(await runCode(sandbox, code, { capabilities: { storage } })).toBe(1)
  })

  test('and what it did before it', async () => {
    const code = `export const handler = () => {
      Object.defineProperty(Object.prototype, 'answer', { set() {}, get: () => '{"kind":"json"}\\n2' })
      return 1
    }`
    expect(await runCode(sandbox, code)).toBe(1)
  })
})

describe('what stands ready inside', () => {
  test.each([
    ['new TextDecoder().decode(new TextEncoder().encode("aé€😀"))', 'aé€😀'],
    ['[...new TextEncoder().encode("é€😀")]', [0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80]],
    ['structuredClone({ a: [1] })', { a: [1] }],
    ['new Promise((resolve) => setTimeout(resolve, 4000, "late"))', 'late'],
    [
      'new Promise((resolve) => { const order = []; setTimeout(() => resolve(order), 20); setTimeout(() => order.push(2), 9); setTimeout(() => order.push(1), 8) })',
      [1, 2],
    ],
    ['new Promise((resolve) => { let n = 0; const id = setInterval(() => { if (++n === 3) { clearInterval(id); resolve(n) } }, 10) })', 3],
    ['new Promise((resolve) => { clearTimeout(setTimeout(resolve, 1, "cleared")); setTimeout(resolve, 2, "kept") })', 'kept'],
    ['new Promise((resolve) => queueMicrotask(() => resolve("micro")))', 'micro'],
  ])('%s', async (expression, expected) => {
    expect(await runCode(sandbox, `export const handler = () => ${expression}`)).toEqual(expected)
  })
})

describe('capabilities', () => {
  const storage = {
    read: async (type: string, id: string) => (id === 'none' ? undefined : { resourceType: type, id }),
    search: async () => {
      throw new OperationError('forbidden', 'You may not search.')
    },
    write: async () => {
      throw new Error('SQLITE_BUSY: /var/lib/x.db')
    },
  }
  const run = (code: string) =>
    runCode(sandbox, `export const handler = async (event, { storage }) => { ${code} }`, { capabilities: { storage } })

  test('are absent unless granted', async () => {
    expect(await runCode(sandbox, 'export const handler = (event, context) => Object.keys(context)')).toEqual(['log'])
  })

  test('answer asynchronously, several at once', async () => {
    expect(await run('return Promise.all([1, 2, 3].map((n) => storage.read("Patient", "p" + n)))')).toEqual(
      [1, 2, 3].map((n) => ({ resourceType: 'Patient', id: `p${n}` })),
    )
    expect(await run('return [await storage.read("Patient", "none") === undefined]')).toEqual([true])
  })

  test('our errors keep their code, those of others say nothing', async () => {
    const caught = (call: string) => run(`try { await ${call} } catch (error) { return [error.name, error.code, error.message] }`)
    expect(await caught('storage.search("Patient")')).toEqual(['OperationError', 'forbidden', 'You may not search.'])
    expect(await caught('storage.write({})')).toEqual(['OperationError', 'unforeseen', 'The call failed.'])
  })

  test('a call that the host never answers ends with the time limit', async () => {
    const capabilities = { storage: { ...storage, read: () => new Promise<undefined>(() => {}) } }
    const waiting = runCode(sandbox, 'export const handler = (event, { storage }) => storage.read("Patient", "1")', {
      capabilities,
      limits: { timeoutMs: 200 },
    })
    await expect(waiting).rejects.toMatchObject({ code: 'bot-timeout' })
  })

  test('calls without end are stopped', async () => {
    await expect(run('for (;;) storage.read("Patient", "1")')).rejects.toMatchObject({ code: 'bot-too-costly' })
  })
})
