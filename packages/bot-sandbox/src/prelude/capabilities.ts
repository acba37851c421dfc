import type { PreludeOptions, SandboxApi } from './host.js'

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
