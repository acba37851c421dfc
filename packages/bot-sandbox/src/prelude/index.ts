import { botResponse, isBotResponse } from 'fhir-ops/execute'
import { isHl7Message, parseHl7 } from 'fhir-ops/hl7v2'
import { defineGlobal, installClock, installRandom, installTextCodecs, installTimers } from './globals.js'
import { capabilities, type PreludeHost, type PreludeOptions, type SandboxApi } from './host.js'

// Taken before any code of a bot can replace them.
const { parse, stringify } = JSON
const { setPrototypeOf } = Object

const LEVELS = ['debug', 'log', 'info', 'warn', 'error']

/** Prepares a realm before any code of a bot runs in it: adds missing web-standard globals, `parseHl7` and `botResponse`. */
export function furnish(options: PreludeOptions): SandboxApi {
  const { host, importCompiled } = options
  const log = logger(host)
  const granted = capabilities(options)
  const exported = installExports()
  installTextCodecs()
  installRandom(host)
  installClock(host)
  defineGlobal('console', Object.fromEntries(LEVELS.map((level) => [level, log(level === 'log' ? 'info' : level)])))
  defineGlobal('structuredClone', (value: unknown) => parse(stringify(value)))
  defineGlobal('parseHl7', parseHl7)
  defineGlobal('botResponse', botResponse)
  Reflect.deleteProperty(globalThis, 'SharedArrayBuffer')
  Reflect.deleteProperty(globalThis, 'Atomics')
  const context = { log: log('info'), ...granted.objects }
  const run = async (loaded: unknown, event: string) => {
    try {
      const handler = handlerOf(await loaded, exported())
      options.answer = answerText(await handler(readEvent(event), context))
    } catch (error) {
      host.fail(describe(error))
    }
  }
  return {
    start: (loaded, event) => void run(loaded, event),
    startCompiled: (event) => void run(importCompiled(), event),
    reply: granted.reply,
    nextTimer: installTimers(),
    describe,
  }
}

/** Creates the functions of the log, which write values as the host's log does. */
function logger(host: PreludeHost): (level: string) => (...values: unknown[]) => void {
  const text = (value: unknown) => (typeof value === 'string' ? value : describe(value))
  return (level) =>
    (...values) =>
      host.log(level, values.map(text).join(' '))
}

/** The text of a value that a bot threw: for errors, name, message and position. Never throws. */
function describe(error: unknown): string {
  try {
    if (!(error instanceof Error)) return typeof error === 'string' ? error : (JSON.stringify(error) ?? String(error))
    return `${error.name}: ${error.message}\n${error.stack ?? ''}`.trim()
  } catch {
    return 'The bot threw a value that cannot be described.'
  }
}

type Handler = (event: unknown, context: unknown) => unknown

/** Lets a script export: `exports.handler = ...` or `module.exports = ...`. Returns a function that reads the exports so far. */
function installExports(): () => unknown {
  const module: { exports: unknown } = { exports: {} }
  defineGlobal('module', module)
  defineGlobal('exports', module.exports)
  return () => module.exports
}

/** The handler of loaded code: the export `handler`, the default export or its `handler`, or the exported function itself. */
function handlerOf(loaded: unknown, exported: unknown): Handler {
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

/** Builds the event in the bot's realm. Maps of texts have no prototype, so that every name is data. */
export function readEvent(text: string): object {
  const { event, hl7 }: { readonly event: Record<string, unknown>; readonly hl7?: string } = parse(text)
  bare(event['query'])
  bare(event['headers'])
  if (event['contentType'] === 'application/x-www-form-urlencoded') bare(event['input'])
  if (hl7 !== undefined) event['input'] = parseHl7(hl7)
  return event
}

function bare(map: unknown): void {
  if (typeof map === 'object' && map !== null) setPrototypeOf(map, null)
}

/** The result of a bot without its value. */
export interface WireHead {
  readonly kind: 'nothing' | 'text' | 'hl7' | 'json'
  /** Present when the bot answered with `botResponse`. */
  readonly response?: { readonly status: number; readonly headers: Readonly<Record<string, string>> }
}

/** The result of a bot as text: a line with the `WireHead`, followed by the value. */
export function answerText(returned: unknown): string {
  if (!isBotResponse(returned)) return headOf(kindOf(returned)) + valueText(returned)
  const { status, headers, body } = returned
  return stringify({ kind: kindOf(body), response: { status, headers } }) + '\n' + valueText(body)
}

function kindOf(value: unknown): WireHead['kind'] {
  if (value === undefined || value === null) return 'nothing'
  if (typeof value === 'string') return 'text'
  return isHl7Message(value) ? 'hl7' : 'json'
}

/** Avoids a template literal, because the engine evaluates it with a method that bots may replace. */
function headOf(kind: WireHead['kind']): string {
  return '{"kind":"' + kind + '"}\n'
}

function valueText(value: unknown): string {
  if (value === undefined || value === null) return ''
  return stringify(isHl7Message(value) ? value.toString() : value) ?? ''
}
