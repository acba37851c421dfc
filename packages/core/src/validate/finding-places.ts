import type { FhirNode } from '../fhirpath/index.js'
import { isObject, placeIn, type JsonSource, type TextPlace } from '../json/index.js'

/** Tells places in a text. */
export interface PlaceFinder {
  /** Where a node, or what stands at further steps below it, begins. */
  readonly ofNode: (node: FhirNode, at: string | undefined) => TextPlace | undefined
  readonly ofOffset: (offset: number) => TextPlace
}

/** Finds places in a text by the positions that its parser kept. What has no place of its own has that of what is around it. */
export function placeFinder({ text, start, positions }: JsonSource): PlaceFinder {
  const offsetIn = (holder: unknown, key: string | number): number | undefined =>
    typeof holder === 'object' && holder !== null ? positions.get(holder)?.get(key) : undefined
  const offsetOf = (node: FhirNode): number | undefined => {
    const { parent, slot, index } = node
    if (parent === undefined || slot === undefined || !isObject(parent.value)) return start
    const list = parent.value[slot.jsonName] ?? parent.value[slot.siblingName]
    const own = Array.isArray(list) ? offsetIn(list, index) : undefined
    return own ?? offsetIn(parent.value, slot.jsonName) ?? offsetIn(parent.value, slot.siblingName) ?? offsetOf(parent)
  }
  const offsetBelow = (node: FhirNode, at: string): number | undefined => {
    let offset: number | undefined
    let holder: unknown = node.value
    for (const step of at.split(/[.[\]]+/).filter((part) => part !== '')) {
      const key = Array.isArray(holder) ? Number(step) : step
      offset = offsetIn(holder, key) ?? offset
      holder = Array.isArray(holder) ? holder[Number(step)] : isObject(holder) && Object.hasOwn(holder, step) ? holder[step] : undefined
    }
    return offset
  }
  return {
    ofNode: (node, at) => {
      const offset = (at === undefined ? undefined : offsetBelow(node, at)) ?? offsetOf(node)
      return offset === undefined ? undefined : placeIn(text, offset)
    },
    ofOffset: (offset) => placeIn(text, offset),
  }
}
