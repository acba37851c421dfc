import { addBit, createNumbers, emptyBits, hasBit, visitMembers, type Bits } from 'fhir-ops/internal/bits'

/** Which keys refer to which, by one search parameter. Immutable. */
export interface ReferenceColumn {
  readonly bytes: number
  /** The keys that refer to one of the targets. @param among The only ones that are asked. */
  sourcesOf(targets: Bits, among?: Bits): Bits
  /** The keys that one of the sources refers to. */
  targetsOf(sources: Bits): Bits
  forEach(visit: VisitReference): void
}

/** Takes one reference. */
export type VisitReference = (source: number, target: number) => void

/**
 * Makes a column.
 *
 * @param visitAll Calls the function for every reference, in any order.
 */
export function referenceColumn(visitAll: (visit: VisitReference) => void): ReferenceColumn {
  const { starts, targets, limit } = groupedBySource(visitAll)
  const sources = starts.length - 1
  const refersTo = (source: number, among: Bits): boolean => {
    for (let at = starts[source] ?? 0; at < (starts[source + 1] ?? 0); at++) if (hasBit(among, targets[at] ?? 0)) return true
    return false
  }
  return {
    bytes: starts.byteLength + targets.byteLength,
    sourcesOf(wanted, among) {
      const found = emptyBits(sources)
      if (among === undefined) {
        for (let source = 0; source < sources; source++) if (refersTo(source, wanted)) addBit(found, source)
      } else {
        visitMembers(among, (source) => {
          if (refersTo(source, wanted)) addBit(found, source)
        })
      }
      return found
    },
    targetsOf(wanted) {
      const found = emptyBits(limit)
      visitMembers(wanted, (source) => {
        for (let at = starts[source] ?? 0; at < (starts[source + 1] ?? 0); at++) addBit(found, targets[at] ?? 0)
      })
      return found
    },
    forEach(visit) {
      for (let source = 0; source < sources; source++)
        for (let at = starts[source] ?? 0; at < (starts[source + 1] ?? 0); at++) visit(source, targets[at] ?? 0)
    },
  }
}

/** References in the order of their sources; those of one are in the order in which they came. */
export interface Grouped {
  /** Where the targets of a source begin: its own place; the next one is where they end. */
  readonly starts: Uint32Array
  readonly targets: Uint32Array
  /** One more than the largest target. */
  readonly limit: number
}

/** @param visitAll Calls the function for every reference, in any order. */
export function groupedBySource(visitAll: (visit: VisitReference) => void): Grouped {
  const [from, to] = [createNumbers(), createNumbers()]
  let [sources, limit] = [0, 0]
  visitAll((source, target) => {
    from.push(source)
    to.push(target)
    sources = Math.max(sources, source + 1)
    limit = Math.max(limit, target + 1)
  })
  const starts = new Uint32Array(sources + 1)
  for (let at = 0; at < from.length(); at++) starts[from.at(at) + 1] = (starts[from.at(at) + 1] ?? 0) + 1
  for (let source = 0; source < sources; source++) starts[source + 1] = (starts[source + 1] ?? 0) + (starts[source] ?? 0)
  const next = starts.slice()
  const targets = new Uint32Array(from.length())
  for (let at = 0; at < from.length(); at++) {
    const source = from.at(at)
    const place = next[source] ?? 0
    targets[place] = to.at(at)
    next[source] = place + 1
  }
  return { starts, targets, limit }
}
