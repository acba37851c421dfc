import type { Principal } from 'fhir-ops/sessions'
import type { Call } from '../routes/route.js'

/** The principal of a call that came with a token. */
export function principalOf({ caller }: Call): Principal {
  if (caller.principal === undefined) throw new TypeError('The route needs a token.')
  return caller.principal
}
