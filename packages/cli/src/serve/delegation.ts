import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { OPERATIONS } from '@fhir-ops/handler'
import type { NodeListener } from '@fhir-ops/handler/node'
import { delegated } from '@fhir-ops/http'
import { OperationError } from 'fhir-ops/errors'
import type { Operation } from 'fhir-ops/operation'
import { wrongUse } from '../exit.js'

/** What `fhir-ops serve` delegates to another FHIR server. */
export interface DelegationOptions {
  /** Names of operations without the dollar sign. */
  readonly delegate?: readonly string[]
  /** Base of the other server. */
  readonly delegateTo?: string
  /** Code systems and canonicals that it answers at once. */
  readonly remote?: readonly string[]
  /** Asks it, and the server behind `--storage http:URL`, with the caller's token. */
  readonly forwardToken?: boolean
}

/**
 * The operations to mount; what is delegated asks the other server.
 *
 * @param callerToken Gives the token of the caller whose request is being served, where it is to be passed on.
 * @throws {OperationError} `parameter-value` for options that do nothing, and for what cannot be delegated.
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

/** The callers whose requests a server is serving, for the server upstream that is asked for them. */
export interface Callers {
  /** The listener, which serves each request in the name of its caller. */
  readonly within: (listener: NodeListener) => NodeListener
  /** The token of the request that is being served. */
  readonly token: () => string | undefined
  /** Aborted when nobody waits for the answer to that request any more. */
  readonly signal: () => AbortSignal | undefined
}

/** Makes the place for the callers of one server. */
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
