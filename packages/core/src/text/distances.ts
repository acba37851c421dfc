/**
 * Counts, for one word and many others, the letters to insert, drop, replace or swap with their neighbour (optimal string alignment).
 *
 * Only cells near the diagonal are filled, in rows that are used again: of 350,000 codes every one is compared in a fraction of a second.
 *
 * @param most Larger distances need not be distinguished; at most 100.
 * @returns the count, or `most + 1` for whatever is above `most`.
 */
export function distancesFrom(word: string, most: number): (other: string) => number {
  const width = word.length
  const far = most + 1
  let [before, last, current] = [new Uint8Array(width + 2), new Uint8Array(width + 2), new Uint8Array(width + 2)]

  const cell = (other: string, row: number, column: number): number => {
    const [letter, wanted] = [other.charCodeAt(row - 1), word.charCodeAt(column - 1)]
    const changed = at(last, column - 1) + (letter === wanted ? 0 : 1)
    const least = Math.min(at(last, column) + 1, at(current, column - 1) + 1, changed, far)
    if (row === 1 || column === 1 || letter !== word.charCodeAt(column - 2) || other.charCodeAt(row - 2) !== wanted) return least
    return Math.min(least, at(before, column - 2) + 1)
  }

  /** @returns The least of the row. */
  const fill = (other: string, row: number): number => {
    const [from, to] = [Math.max(1, row - most), Math.min(width, row + most)]
    let least = from === 1 ? Math.min(row, far) : far
    current[from - 1] = least
    for (let column = from; column <= to; column++) {
      const filled = cell(other, row, column)
      current[column] = filled
      if (filled < least) least = filled
    }
    current[to + 1] = far
    return least
  }

  return (other) => {
    if (Math.abs(other.length - width) > most) return far
    for (let column = 0; column <= width + 1; column++) last[column] = Math.min(column, far)
    let leastOfLast = 0
    for (let row = 1; row <= other.length; row++) {
      const least = fill(other, row)
      // A swap looks two rows back.
      if (least > most && leastOfLast > most) return far
      leastOfLast = least
      ;[before, last, current] = [last, current, before]
    }
    return Math.min(at(last, width), far)
  }
}

function at(row: Uint8Array, column: number): number {
  return row[column] ?? 0
}
