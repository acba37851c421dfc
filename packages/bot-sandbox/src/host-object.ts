import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten-core'
import type { Answered, Failure, Outcome } from './protocol.js'
import type { Realm } from './realm.js'
import type { RunState } from './run-state.js'

/** What the methods of a host object work with. */
export interface HostOptions {
  readonly state: RunState
  /** Sends a call of a capability to the host. */
  readonly call: (call: number, method: string, args: string) => void
  readonly loadHl7: () => QuickJSHandle
  readonly outputBytes: number
}

/** The `PreludeHost` of a realm. Only texts and numbers cross; a value of another type crosses as the empty text. */
export function hostObject({ context, keep }: Realm, { state, call, loadHl7, outputBytes }: HostOptions): QuickJSHandle {
  const host = keep(context.newObject())
  const text = (handle: QuickJSHandle | undefined) => textOf(context, handle)
  const methods: Readonly<Record<string, (...args: QuickJSHandle[]) => QuickJSHandle | void>> = {
    log: (level, line) => state.addLog({ level: logLevel(text(level)), text: text(line) }),
    call: (number, method, args) => {
      state.callMade()
      const given = text(args)
      if (given.length > outputBytes) state.end(tooCostly(`The bot passed more than ${outputBytes} bytes to a call.`))
      if (state.outcome() === undefined && number !== undefined) call(context.getNumber(number), text(method), given)
    },
    done: (head, value) => state.end(answered({ head: text(head), value: text(value) }, outputBytes)),
    fail: (thrown) => state.fail(text(thrown)),
    loadHl7,
  }
  for (const [name, method] of Object.entries(methods)) context.setProp(host, name, keep(context.newFunction(name, method)))
  return host
}

function textOf(context: QuickJSContext, handle: QuickJSHandle | undefined): string {
  return handle !== undefined && context.typeof(handle) === 'string' ? context.getString(handle) : ''
}

function logLevel(level: string): 'debug' | 'info' | 'warn' | 'error' {
  return level === 'debug' || level === 'warn' || level === 'error' ? level : 'info'
}

/**
 * What is too long is not sent on, because the host's thread would take long to parse it. Only a text is let through when it may be too
 * long: in JSON it takes up to six times its length. The exact bound is the caller's.
 */
function answered(answer: Answered, outputBytes: number): Outcome {
  const bound = answer.value.startsWith('"') ? 6 * outputBytes + 2 : outputBytes
  const isTooLong = answer.head.length > MAX_HEAD || answer.value.length > bound
  return isTooLong ? tooCostly(`The bot returned more than ${outputBytes} bytes.`) : answer
}

/** A status and what `botResponse` takes of headers are shorter. */
const MAX_HEAD = 16_384

function tooCostly(message: string): Failure {
  return { code: 'bot-too-costly', message }
}
