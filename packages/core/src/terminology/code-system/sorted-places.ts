import type { Work } from '../../work/index.js'

const RUN = 256
const STEPS = 4_096

/** The places of texts in ascending order (UTF-16 code units), equal ones by place. A merge sort, because it can be interrupted. */
export function* sortedPlaces(texts: readonly string[]): Work<Uint32Array> {
  let sorted = new Uint32Array(texts.length)
  for (let place = 0; place < sorted.length; place++) sorted[place] = place
  for (let start = 0; start < sorted.length; start += RUN) {
    sorted.subarray(start, start + RUN).sort((a, b) => compareAt(texts, a, b))
    yield
  }
  let merged = new Uint32Array(sorted.length)
  for (let width = RUN; width < sorted.length; width *= 2) {
    yield* mergeRuns({ texts, from: sorted, to: merged }, width)
    ;[sorted, merged] = [merged, sorted]
  }
  return sorted
}

interface Merging {
  readonly texts: readonly string[]
  readonly from: Uint32Array
  readonly to: Uint32Array
}

function* mergeRuns({ texts, from, to }: Merging, width: number): Work<void> {
  for (let start = 0; start < from.length; start += 2 * width) {
    const middle = Math.min(start + width, from.length)
    const end = Math.min(start + 2 * width, from.length)
    let [left, right] = [start, middle]
    for (let at = start; at < end; at++) {
      const takesLeft = right >= end || (left < middle && compareAt(texts, from[left] ?? 0, from[right] ?? 0) <= 0)
      to[at] = from[takesLeft ? left++ : right++] ?? 0
      if (at % STEPS === 0) yield
    }
  }
}

function compareAt(texts: readonly string[], a: number, b: number): number {
  const [left, right] = [texts[a] ?? '', texts[b] ?? '']
  if (left === right) return a - b
  return left < right ? -1 : 1
}
