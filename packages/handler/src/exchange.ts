import type { Connection, HttpRequest } from './http/http-request.js'
import type { Target } from './http/target.js'
import type { Family } from './routes/route.js'

/** One request with what is known of it before anything is looked up. */
export interface Exchange {
  readonly request: HttpRequest
  readonly connection: Connection
  readonly requestId: string
  readonly remoteHost: string | undefined
  readonly target: Target
  readonly family: Family
  /** True below the FHIR base. */
  readonly isFhir: boolean
}
