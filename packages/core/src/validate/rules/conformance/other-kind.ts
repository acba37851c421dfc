import { PENDING, type Pending } from '../../../fhirpath/index.js'
import type { Run } from '../../run/run.js'

/** The type of the definition that a canonical leads to where another was wanted; `undefined` where it leads to none. */
export function otherKindOf(run: Run, canonical: string, wanted: string): string | undefined | Pending {
  const kinds = run.definitions.kinds(canonical)
  return kinds === PENDING ? PENDING : kinds.find((type) => type !== wanted)
}
