import type { FhirNode } from '../../../fhirpath/index.js'
import type { ElementRule, SlicingRule } from '../../profile/element-rule.js'
import type { Run } from '../../walk/run.js'

/** The slices of the nodes of an element, in the order of the nodes. */
export interface Places {
  readonly group: ElementRule
  readonly slicing: SlicingRule
  readonly places: readonly (readonly ElementRule[])[]
}

/** Reports the nodes that are in no slice of a profile and of those on which it builds: an error in a closed slicing, else something to know. */
export function reportOutside(run: Run, nodes: readonly FhirNode[], family: readonly Places[]): void {
  const [leader] = family
  if (leader === undefined) return
  const closed = family.find(({ slicing }) => slicing.rules === 'closed')
  const { name, profile } = (closed ?? leader).group
  if (closed === undefined && isImplied(leader.slicing)) return
  for (const [index, node] of nodes.entries()) {
    if (family.some(({ places }) => places[index]?.length !== 0)) continue
    const slices = new Set(family.flatMap(({ group }) => group.slices.map(({ sliceName }) => `'${sliceName}'`)))
    run.sink.report(closed === undefined ? 'slice-unmatched' : 'slice-closed', node, {
      text: `This is in none of the slices ${[...slices].join(', ')} of '${name}'.`,
      profile,
    })
  }
}

/** Every extension list is sliced by url and every choice by type: nobody need know what is in no slice there. */
function isImplied({ discriminators: [only, second] }: SlicingRule): boolean {
  if (second !== undefined) return false
  return only?.path === 'url' || (only?.type === 'type' && only.path === '$this')
}

/** Reports a node that is in several slices of one profile. */
export function reportSeveral(run: Run, node: FhirNode, slices: readonly ElementRule[]): void {
  if (slices.length < 2) return
  run.sink.report('slice-several', node, {
    text: `This is in several slices: ${slices.map(({ sliceName }) => `'${sliceName}'`).join(', ')}.`,
    profile: slices[0]?.profile ?? '',
  })
}

/** Reports nodes that stand where an ordered slicing, or one that is open at the end, does not have them. */
export function checkOrder(run: Run, nodes: readonly FhirNode[], { group, slicing, places }: Places): void {
  const end = group.slices.length
  const positions = places.map(([slice]) => (slice === undefined ? end : group.slices.indexOf(slice)))
  let reached = 0
  for (const [index, node] of nodes.entries()) {
    const position = positions[index] ?? end
    if (isLate(slicing, { position, reached, end })) {
      const [slice] = places[index] ?? []
      run.sink.report('slice-order', node, {
        text: `Slice '${slice?.sliceName}' of '${group.name}' is out of order.`,
        profile: group.profile,
      })
    }
    if (position < end || slicing.rules === 'openAtEnd') reached = Math.max(reached, position)
  }
}

function isLate(slicing: SlicingRule, { position, reached, end }: { position: number; reached: number; end: number }): boolean {
  if (position === end) return false
  return slicing.ordered ? position < reached : slicing.rules === 'openAtEnd' && reached === end
}
