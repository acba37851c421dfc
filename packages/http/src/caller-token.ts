import { AsyncLocalStorage } from 'node:async_hooks'

/** The token of the caller whose request is being served; there is one such place in a process. */
const current = new AsyncLocalStorage<string | undefined>()

/**
 * Serves a request in the name of its caller: what runs in `work` and after it, reaches upstreams with `forwardToken` with this token.
 *
 * @param token Bearer token; without one, such upstreams are asked without credentials.
 */
export function withCallerToken<T>(token: string | undefined, work: () => T): T {
  return current.run(token, work)
}

/** The token that `withCallerToken` was given. */
export function callerToken(): string | undefined {
  return current.getStore()
}
