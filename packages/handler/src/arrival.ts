import type { OperationContext } from 'fhir-ops/context'
import type { Caller } from './auth/caller.js'
import type { Exchange } from './exchange.js'
import type { Match } from './routes/router.js'

/** A request whose caller is known. */
export interface Arrival {
  readonly exchange: Exchange
  readonly match: Match | undefined
  readonly caller: Caller
  /** The request that this one is part of (an entry of a batch): it shares its turn, time limit and cancellation. */
  readonly partOf?: OperationContext
}
