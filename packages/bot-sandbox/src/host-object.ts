import type { QuickJSContext, QuickJSHandle } from 'quickjs-emscripten-core'
import type { Outcome } from './protocol.js'
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
      if (state.outcome() === undefined && number !== undefined) call(context.getNumber(number), text(method), text(args))
    },
    done: (answer) => state.end(answered(text(answer), outputBytes)),
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

/** JSON escapes make a text up to six times longer; what is certainly too long is not sent on. The exact bound is the caller's. */
function answered(text: string, outputBytes: number): Outcome {
  const tooLong = text.length > 6 * outputBytes + 8_192
  return tooLong ? { code: 'bot-too-costly', message: `The bot returned more than ${outputBytes} bytes.` } : { text }
}
