import { PENDING, type Pending } from '../../../fhirpath/index.js'
import type { Run } from '../../run/run.js'

/** The type of a definition with this canonical that is not of the wanted type; `undefined` when there is none. */
export function otherKindOf(run: Run, canonical: string, wanted: string): string | undefined | Pending {
  const kinds = run.definitions.kinds(canonical)
  return kinds === PENDING ? PENDING : kinds.find((type) => type !== wanted)
}
