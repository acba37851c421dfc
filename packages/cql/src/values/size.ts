import { isList, isTuple, type Value } from './value.js'

/** Sizes of lists and tuples: values share parts, so what has few parts may be endless when it is walked. */
const known = new WeakMap<object, number>()

/** Characters of a text that cost as much as an item of a list. */
const TEXT_OF_ITEM = 512

/** So many items. */
const SHORT = 32

/** How much there is to look at in a value: items of lists and tuples at all levels, and long texts. Takes time by what is in memory only. */
export function sizeOf(value: Value): number {
  if (typeof value === 'string') return Math.floor(value.length / TEXT_OF_ITEM)
  if (typeof value !== 'object' || value === null) return 0
  if (isList(value)) return sizeOfParts(value, value)
  return isTuple(value) ? sizeOfParts(value, [...value.elements.values()]) : 0
}

function sizeOfParts(whole: object, parts: readonly Value[]): number {
  const before = known.get(whole)
  if (before !== undefined) return before
  let size = parts.length
  let isFlat = true
  for (const part of parts) {
    if (typeof part !== 'object' || part === null) {
      size += sizeOf(part)
    } else if (isList(part) || isTuple(part)) {
      isFlat = false
      size += sizeOf(part)
    }
  }
  // Short lists of elements, which most are, are counted again sooner than remembered.
  if (!isFlat || parts.length > SHORT) known.set(whole, size)
  return size
}
