import type { ConceptStatus } from '../../code-system/index.js'

/** Why a code should not be used any more. */
export type OutOfUse = 'inactive' | 'deprecated'

/** A code that is withdrawn is not active, whatever else its code system says of it; one that is deprecated can still be used. */
export function outOfUse({ inactive, status }: ConceptStatus): OutOfUse | undefined {
  if (inactive || status === 'withdrawn') return 'inactive'
  return status === 'deprecated' ? 'deprecated' : undefined
}
