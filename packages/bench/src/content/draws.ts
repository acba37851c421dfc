/** Random numbers that are the same for the same seed. */
export interface Draws {
  /** A whole number from 0 up to but not including `limit`. */
  below(limit: number): number
  /** The same, small numbers far more often: about as words of a language by their rank. */
  skewed(limit: number): number
}

/** Draws by the generator "mulberry32". */
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
