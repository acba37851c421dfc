import { pushSlot, type FhirNode } from '../../fhirpath/index.js'
import type { Run } from './run.js'

/** Names of JSON members and positions in arrays that lead from a node to one below it. */
export type JsonPath = readonly (string | number)[]

/** The node at a place below another, or the nearest above that place when it has members that the types do not know, with the steps that are left. */
export function nodeAlong({ model }: Run, from: FhirNode, path: JsonPath): { readonly node: FhirNode; readonly rest: JsonPath } {
  let node = from
  for (const [place, step] of path.entries()) {
    if (typeof step === 'number') continue
    const slot = node.type.members.get(step)
    const into: FhirNode[] = []
    if (slot !== undefined) pushSlot(model, node, { slot, into })
    const next = path[place + 1]
    const child = into[typeof next === 'number' ? next : 0]
    if (child === undefined) return { node, rest: path.slice(place) }
    node = child
  }
  return { node, rest: [] }
}
