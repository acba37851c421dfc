/** Random numbers, which are the same for the same seed. */
export interface Draws {
  /** An integer from 0 up to but not including `limit`. */
  below(limit: number): number
  /** As `below`, but small numbers are far more frequent, about as words of a natural language by their rank. */
  skewed(limit: number): number
}

/** Creates random numbers with the generator "mulberry32". */
export function drawsFrom(seed: number): Draws {
  let state = seed
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    below: (limit) => Math.floor(next() * limit),
    skewed: (limit) => Math.floor(limit ** next()) - 1,
  }
}
