import type { Principal } from 'fhir-ops/sessions'
import type { Exchange } from '../exchange.js'

/** The principal of a call that came with a token. */
export function principalOf({ caller }: Exchange): Principal {
  if (caller.principal === undefined) throw new TypeError('The route needs a token.')
  return caller.principal
}
