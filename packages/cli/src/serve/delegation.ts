import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { OPERATIONS } from '@fhir-ops/handler'
import type { NodeListener } from '@fhir-ops/handler/node'
import { delegated } from '@fhir-ops/http'
import { OperationError } from 'fhir-ops/errors'
import type { Operation } from 'fhir-ops/operation'
import { wrongUse } from '../exit.js'

/** Options for delegating operations to another FHIR server. */
export interface DelegationOptions {
  /** Operation names without the dollar sign. */
  readonly delegate?: readonly string[]
  /** Base of the other server. */
  readonly delegateTo?: string
  /** Code systems and canonicals for which the other server is asked directly. */
  readonly remote?: readonly string[]
  /** Calls it, and the server behind `--storage http:URL`, with the caller's token. */
  readonly forwardToken?: boolean
}

/**
 * Returns the operations to mount; delegated ones call the other server.
 *
 * @param callerToken Returns the token of the caller whose request is being served, if it is to be passed on.
 * @throws {OperationError} `parameter-value` for options without an effect, and for operations that cannot be delegated.
 */
export function operationsOf(
  { delegate = [], delegateTo, remote = [] }: DelegationOptions,
  callerToken?: () => string | undefined,
): readonly Operation[] {
  if ((delegateTo === undefined) !== (delegate.length === 0) || (remote.length > 0 && delegateTo === undefined)) {
    throw new OperationError('parameter-value', '--delegate and --delegate-to must be given together; --remote needs both.')
  }
  if (delegateTo === undefined) return OPERATIONS
  try {
    return delegated(OPERATIONS, { baseUrl: delegateTo, delegate, remote, callerToken })
  } catch (cause) {
    throw wrongUse(cause)
  }
}

/** The callers of current requests, for calls to an upstream server. */
export interface Callers {
  /** Wraps a listener, so that each request is served in the context of its caller. */
  readonly within: (listener: NodeListener) => NodeListener
  /** Returns the token of the current request. */
  readonly token: () => string | undefined
  /** Returns a signal that is aborted when nobody waits for the answer to the current request any longer. */
  readonly signal: () => AbortSignal | undefined
}

/** Creates the context store for the callers of a server. */
export function currentCallers(): Callers {
  const callers = new AsyncLocalStorage<{ readonly token: string | undefined; readonly signal: AbortSignal }>()
  return {
    within: (listener) => (request: IncomingMessage, response: ServerResponse) => {
      const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
      const gone = new AbortController()
      response.once('close', () => gone.abort())
      callers.run({ token, signal: gone.signal }, () => listener(request, response))
    },
    token: () => callers.getStore()?.token,
    signal: () => callers.getStore()?.signal,
  }
}
