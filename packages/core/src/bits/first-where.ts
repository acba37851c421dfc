/** The first number below the size for which the test holds, where it holds for all after it; the size when there is none. */
export function firstWhere(size: number, test: (i: number) => boolean): number {
  let low = 0
  let high = size
  while (low < high) {
    const middle = (low + high) >>> 1
    if (test(middle)) high = middle
    else low = middle + 1
  }
  return low
}
