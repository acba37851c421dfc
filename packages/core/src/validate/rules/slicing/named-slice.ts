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
  const group = [...profile.elements.values()].find(({ slices }) => slices.some(({ sliceName }) => sliceName === name))
  const slice = group?.slices.find(({ sliceName }) => sliceName === name)
  if (group === undefined || slice === undefined || group.name !== node.slot?.name) return undefined
  return isInSlice(run, node, { slice, same: [], discriminators: group.slicing?.discriminators ?? [] })
}
