/** The first index below `length` from which on the predicate holds; `length` when it never does. */
export function firstIndex(length: number, predicate: (index: number) => boolean): number {
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (predicate(middle)) high = middle
    else low = middle + 1
  }
  return low
}
