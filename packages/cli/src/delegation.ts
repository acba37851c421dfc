import type { IncomingMessage, ServerResponse } from 'node:http'
import { OPERATIONS, type HandlerOptions } from '@fhir-ops/handler'
import type { NodeListener } from '@fhir-ops/handler/node'
import { delegated, withCallerToken } from '@fhir-ops/http'
import { OperationError } from 'fhir-ops/errors'
import { wrongUse } from './wrong-use.js'

/** What `fhir-ops serve` hands to another FHIR server. */
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

/** The operations to mount. @throws {OperationError} `parameter-value` for options that do nothing, and for what cannot be delegated. */
export function operationsOf({
  delegate = [],
  delegateTo,
  remote = [],
  forwardToken,
}: DelegationOptions): Pick<HandlerOptions, 'operations'> {
  if ((delegateTo === undefined) !== (delegate.length === 0) || (remote.length > 0 && delegateTo === undefined)) {
    throw new OperationError('parameter-value', '--delegate goes with --delegate-to, and --remote with both.')
  }
  if (delegateTo === undefined) return {}
  try {
    return { operations: delegated(OPERATIONS, { baseUrl: delegateTo, delegate, remote, forwardToken }) }
  } catch (cause) {
    throw wrongUse(cause)
  }
}

/** Serves each request in the name of its caller. */
export function inTheNameOfCallers(listener: NodeListener): NodeListener {
  return (request: IncomingMessage, response: ServerResponse) => {
    const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
    withCallerToken(token, () => listener(request, response))
  }
}
