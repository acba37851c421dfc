/** A list of whole numbers from 0 to 2^32 - 1, four bytes each, that grows at its end. */
export interface Numbers {
  push(number: number): void
  at(index: number): number
  set(index: number, number: number): void
  fill(number: number): void
  length(): number
  /**
   * In ascending numbers, the first index from `start` on that has at least this number; the length when none has. Looks further and further ahead, so
   * that to go through a list takes little where the numbers asked for come in order, be they near or far.
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
