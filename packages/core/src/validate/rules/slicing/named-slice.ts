import { PENDING, type FhirNode, type Pending } from '../../../fhirpath/index.js'
import type { Run } from '../../walk/run.js'
import { isInSlice } from './slice-match.js'

/** A slice as expressions name it. */
export interface SliceName {
  /** Canonical of the profile that has the slice. */
  readonly profile: string
  readonly name: string
}

/** Whether a node is in a slice of a profile on the resource that it is in; `undefined` when there is no such slice. */
export function isInNamedSlice(run: Run, node: FhirNode, { profile: canonical, name }: SliceName): boolean | undefined | Pending {
  const profile = run.facts.profile(canonical)
  if (profile === undefined || profile === PENDING) return profile
  for (const { name: element, slices, slicing } of profile.elements.values()) {
    const slice = element === node.slot?.name ? slices.find(({ sliceName }) => sliceName === name) : undefined
    if (slice !== undefined) return isInSlice(run, node, { slice, same: [], discriminators: slicing?.discriminators ?? [] })
  }
  return undefined
}
