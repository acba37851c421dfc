import { isBotResponse } from 'fhir-ops/execute'
import { isHl7Message, parseHl7 } from 'fhir-ops/hl7v2'

/** What the sandbox can ask of the worker around it. Nothing of it throws, and no bot gets hold of it. */
export interface PreludeHost {
  log(level: string, text: string): void
  /** The answer comes by `SandboxApi.reply`. */
  call(call: number, method: string, args: string): void
  /** Ends the run with an answer: a line with the JSON text of a `WireHead`, and below it that of the value, nothing when there is none. */
  done(answer: string): void
  /** Ends the run: the bot threw, or gave what JSON cannot say. */
  fail(text: string): void
  /** A random whole number of 32 bits. */
  randomWord(): number
  /** How long the run has been going on, in milliseconds. */
  elapsedMs(): number
}

/** What the worker can ask of the sandbox. */
export interface SandboxApi {
  /** Calls the handler that the loaded code exports. `loaded` is the module, a promise of it, or what a script gave. */
  start(loaded: unknown, event: string): void
  /** The same with the module that was compiled before. */
  startCompiled(event: string): void
  reply(call: number, ok: boolean, text: string): void
  /** Runs the next timer on a clock that does not wait: `none` when there is none, `late` when it is due beyond `limitMs`. */
  nextTimer(limitMs: number): 'none' | 'ran' | 'late'
  /** The text of something thrown. */
  describe(error: unknown): string
}

/** What the prelude is called with. */
export interface PreludeOptions {
  readonly host: PreludeHost
  /** Evaluates the module that was compiled before, and gives it. */
  readonly importCompiled: () => Promise<unknown>
  readonly grants: Readonly<Record<string, readonly string[]>>
}

const { parse, stringify } = JSON
const { setPrototypeOf } = Object

/** Builds the event in the bot's own realm. Maps of texts have no prototype, so that every name is data. */
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

/** What a bot returned beside its value, as data. */
export interface WireHead {
  readonly kind: 'nothing' | 'text' | 'hl7' | 'json'
  /** Present when the bot answered with `botResponse`. */
  readonly response?: { readonly status: number; readonly headers: Readonly<Record<string, string>> }
}

/** What a bot returned as text: a line with the `WireHead`, and the value below it. */
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

/** Without a template: the engine makes one by a method that bots may replace. */
function headOf(kind: WireHead['kind']): string {
  return '{"kind":"' + kind + '"}\n'
}

function valueText(value: unknown): string {
  if (value === undefined || value === null) return ''
  return stringify(isHl7Message(value) ? value.toString() : value) ?? ''
}
