/** A list of numbers for each of many things, in two columns: where each list starts, and all lists one after the other. */
export interface Lists {
  /** One more entry than there are lists. */
  readonly start: Uint32Array
  readonly items: Uint32Array
}

/** The list of one thing. */
export function listOf({ start, items }: Lists, place: number): Uint32Array {
  return items.subarray(start[place] ?? 0, start[place + 1] ?? 0)
}

/** True when a sorted list holds the number. */
export function holds({ start, items }: Lists, place: number, wanted: number): boolean {
  let low = start[place] ?? 0
  let high = start[place + 1] ?? 0
  while (low < high) {
    const middle = (low + high) >>> 1
    const found = items[middle] ?? 0
    if (found === wanted) return true
    if (found < wanted) low = middle + 1
    else high = middle
  }
  return false
}

/** Pairs of a place and an item. */
export interface Pairs {
  readonly places: Uint32Array
  readonly items: Uint32Array
}

/** Gathers pairs into lists; inside a list the order of the pairs stays. */
export function gathered(size: number, { places, items }: Pairs): Lists {
  const start = new Uint32Array(size + 1)
  for (const place of places) start[place + 1] = (start[place + 1] ?? 0) + 1
  for (let i = 0; i < size; i++) start[i + 1] = (start[i + 1] ?? 0) + (start[i] ?? 0)
  const next = start.slice()
  const gatheredItems = new Uint32Array(places.length)
  for (let i = 0; i < places.length; i++) {
    const place = places[i] ?? 0
    const at = next[place] ?? 0
    gatheredItems[at] = items[i] ?? 0
    next[place] = at + 1
  }
  return { start, items: gatheredItems }
}
