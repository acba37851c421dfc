/** A growing list of whole numbers from 0 to 2^32 - 1, four bytes each. */
export interface Numbers {
  push(number: number): void
  at(index: number): number
  set(index: number, number: number): void
  fill(number: number): void
  length(): number
  /** The numbers as they are now, for loops over many. Must not be changed. */
  all(): Uint32Array
  /**
   * In a list of ascending numbers, the first index from `start` whose number is at least `number`; the length if there is none. Searches with growing
   * steps, so that a series of calls with ascending numbers is fast whether they are near each other or far apart.
   */
  firstFrom(start: number, number: number): number
}

export function createNumbers(): Numbers {
  let numbers = new Uint32Array(64)
  let length = 0
  return {
    push(number) {
      if (length === numbers.length) {
        const larger = new Uint32Array(length * 2)
        larger.set(numbers)
        numbers = larger
      }
      numbers[length++] = number
    },
    at: (index) => numbers[index] ?? 0,
    set(index, number) {
      numbers[index] = number
    },
    fill(number) {
      numbers.fill(number)
    },
    length: () => length,
    all: () => numbers.subarray(0, length),
    firstFrom(start, number) {
      let [low, step] = [start, 1]
      while (low + step < length && (numbers[low + step] ?? 0) < number) {
        low += step
        step *= 2
      }
      let high = Math.min(low + step, length)
      while (low < high) {
        const middle = (low + high) >>> 1
        if ((numbers[middle] ?? 0) >= number) high = middle
        else low = middle + 1
      }
      return low
    },
  }
}
