/** Functions of the worker that the sandbox can call. None of them throws, and no bot can access them. */
export interface PreludeHost {
  log(level: string, text: string): void
  /** Calls a capability. `SandboxApi.reply` receives the answer. */
  call(call: number, method: string, args: string): void
  /** Ends the run: the bot threw, or returned a value that JSON cannot represent. */
  fail(text: string): void
  /** A random 32-bit integer. */
  randomWord(): number
  /** Duration of the run so far, in milliseconds. */
  elapsedMs(): number
}

/** Functions of the sandbox that the worker can call. */
export interface SandboxApi {
  /** Calls the handler that the loaded code exports. `loaded` is the module, a promise of it, or the result of a script. */
  start(loaded: unknown, event: string): void
  /** Calls the handler of the module that was compiled before. */
  startCompiled(event: string): void
  reply(call: number, ok: boolean, text: string): void
  /** Runs the next timer of the virtual clock: `none` if there is none, `late` if it is due after `limitMs`. */
  nextTimer(limitMs: number): 'none' | 'ran' | 'late'
  /** The text of a thrown value. */
  describe(error: unknown): string
}

/** Options of the prelude. */
export interface PreludeOptions {
  readonly host: PreludeHost
  /**
   * Set once, which ends the run: a line with the JSON text of a `WireHead`, followed by that of the value, which is empty if there is none. The worker
   * reads it, because a call of a function of the worker takes a tenth of a short run, and leaves garbage that only a full collection removes.
   */
  answer: string
  /** Evaluates the module that was compiled before, and returns it. */
  readonly importCompiled: () => Promise<unknown>
  readonly grants: Readonly<Record<string, readonly string[]>>
}

type Method = (...args: unknown[]) => Promise<unknown>

/** The objects with which a bot uses granted capabilities, for example `context.storage.read`, and the function that receives answers. */
export interface Capabilities {
  readonly objects: Readonly<Record<string, Readonly<Record<string, Method>>>>
  readonly reply: SandboxApi['reply']
}

/** Creates the objects for the granted capabilities. */
export function capabilities({ host, grants }: PreludeOptions): Capabilities {
  const { parse, stringify } = JSON
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let last = 0
  const method =
    (name: string): Method =>
    (...args) => {
      const pending = Promise.withResolvers<unknown>()
      last += 1
      waiting.set(last, pending)
      host.call(last, name, stringify(args))
      return pending.promise
    }
  const objects = Object.entries(grants).map(([name, methods]) => [
    name,
    Object.fromEntries(methods.map((one) => [one, method(`${name}.${one}`)])),
  ])
  return {
    objects: Object.fromEntries(objects),
    reply(call, ok, text) {
      const pending = waiting.get(call)
      waiting.delete(call)
      const value = text === '' ? undefined : parse(text)
      if (ok) pending?.resolve(value)
      else pending?.reject(Object.assign(new Error(value.message), { name: 'OperationError', code: value.code }))
    },
  }
}
