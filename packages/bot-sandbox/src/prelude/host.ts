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

type Method = (...args: unknown[]) => Promise<unknown>

/** The objects by which a bot uses what it was granted, for example `context.storage.read`, and the way back for answers. */
export interface Capabilities {
  readonly objects: Readonly<Record<string, Readonly<Record<string, Method>>>>
  readonly reply: SandboxApi['reply']
}

/** Makes the objects for what was granted. */
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
