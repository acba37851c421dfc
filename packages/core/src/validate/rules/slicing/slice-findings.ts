import type { FhirNode } from '../../../fhirpath/index.js'
import type { ElementRule, SlicingRule } from '../../profile/element-rule.js'
import type { Run } from '../../walk/run.js'

/** Reports a node that is in no slice, or in several. */
export function reportPlace(
  run: Run,
  node: FhirNode,
  { slices, ...group }: { group: ElementRule; slicing: SlicingRule; slices: readonly ElementRule[] },
): void {
  if (slices.length === 0) reportOutside(run, node, group)
  if (slices.length > 1) reportSeveral(run, node, slices)
}

/** An error in a closed slicing, else something to know. */
function reportOutside(run: Run, node: FhirNode, { group, slicing }: { group: ElementRule; slicing: SlicingRule }): void {
  const text = `This is in none of the slices ${group.slices.map(({ sliceName }) => `'${sliceName}'`).join(', ')} of '${group.name}'.`
  if (slicing.rules === 'closed') run.sink.report('slice-closed', node, { text, profile: group.profile })
  else if (!isImplied(slicing)) run.sink.report('slice-unmatched', node, { text, profile: group.profile })
}

/** Every extension list is sliced by url and every choice by type: nobody need know what is in no slice there. */
function isImplied({ discriminators: [only, second] }: SlicingRule): boolean {
  if (second !== undefined) return false
  return only?.path === 'url' || (only?.type === 'type' && only.path === '$this')
}

function reportSeveral(run: Run, node: FhirNode, slices: readonly ElementRule[]): void {
  run.sink.report('slice-several', node, {
    text: `This is in several slices: ${slices.map(({ sliceName }) => `'${sliceName}'`).join(', ')}.`,
    profile: slices[0]?.profile ?? '',
  })
}

/** The slices of the nodes of an element, in the order of the nodes. */
export interface Places {
  readonly group: ElementRule
  readonly slicing: SlicingRule
  readonly places: readonly (readonly ElementRule[])[]
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
