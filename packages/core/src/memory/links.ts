import { addBit, countBits, createNumbers, hasBit, visitMembers, type Bits, type Numbers } from '../bits/index.js'
import type { IndexEntry } from '../storage/index.js'

/**
 * The references between rows by one search parameter, as numbers, so that a chain over many resources compares no texts. Built when all rows are requested,
 * or when some have been requested so often that building takes no longer; then kept up to date with the entries and with the rows that they refer to.
 */
export interface Links {
  /** Adds the rows that refer to one of `targets`. */
  addSources(targets: Bits, found: Bits): void
  /** Like `addSources`, for some rows only; suitable when these are few. */
  addSourcesAmong(rows: Bits, targets: Bits, found: Bits): void
  /** Adds the rows that one of `sources` refers to; some of them may no longer be current. */
  addTargets(sources: Bits, found: Bits): void
  /** Visits every reference of `sources`; some targets may no longer be current. */
  visit(sources: Bits, visit: (source: number, target: number) => void): void
}

/** The rows that are referred to. */
export interface LinkTargets {
  find(id: string): number | undefined
  row(number: number): { readonly stored: { readonly id: string } } | undefined
  size(): number
  /** Increases by one whenever rows get other numbers. */
  generation(): number
}

/** The data that links are built from. */
export interface Linked {
  /** Entries of one search parameter, in the order of their rows. */
  readonly entries: readonly IndexEntry[]
  readonly rowOf: Numbers
  /** The type that is referred to, and its resources. */
  readonly system: string
  readonly targets: LinkTargets
}

/** No row has this number. */
const NOWHERE = 0xffffffff

/** Creates the links of one search parameter to one type; they are built when needed. */
export function createLinks({ entries, rowOf, system, targets }: Linked): Links {
  const places = createPlaces(targets)
  /** For each reference, its row, ascending, and the number of the id that it refers to. */
  const [sources, ids] = [createNumbers(), createNumbers()]
  let upTo = 0
  const catchUp = (): void => {
    places.catchUp()
    for (; upTo < entries.length; upTo++) {
      const entry = entries[upTo]
      if (entry?.value === undefined || entry.system !== system) continue
      sources.push(rowOf.at(upTo))
      ids.push(places.numberOf(entry.value))
    }
  }
  const forEachOf = (rows: Bits, visit: (link: number, row: number) => void): void => {
    let link = 0
    visitMembers(rows, (row) => {
      link = sources.firstFrom(link, row)
      for (; link < sources.length() && sources.at(link) === row; link++) visit(link, row)
    })
  }
  /** Number of rows that were looked up without links. */
  let lookedUp = 0
  const isWorthLinks = (rows: Bits): boolean => {
    if (upTo === 0) lookedUp += countBits(rows)
    return upTo > 0 || lookedUp > entries.length
  }
  /** Looks up targets by the ids in the entries. */
  const lookUp = (rows: Bits, visit: (source: number, target: number) => void): void => {
    let at = 0
    visitMembers(rows, (row) => {
      at = rowOf.firstFrom(at, row)
      for (; at < entries.length && rowOf.at(at) === row; at++) {
        const { system: type, value } = entries[at] ?? {}
        const target = value === undefined || type !== system ? undefined : targets.find(value)
        if (target !== undefined) visit(row, target)
      }
    })
  }
  const visitLinks = (rows: Bits, visit: (source: number, target: number) => void): void => {
    if (!isWorthLinks(rows)) return lookUp(rows, visit)
    catchUp()
    forEachOf(rows, (link, row) => {
      const place = places.at(ids.at(link))
      if (place !== NOWHERE) visit(row, place)
    })
  }
  return {
    visit: visitLinks,
    addSources(among, found) {
      catchUp()
      for (let link = 0; link < sources.length(); link++) if (hasBit(among, places.at(ids.at(link)))) addBit(found, sources.at(link))
    },
    addSourcesAmong(rows, among, found) {
      visitLinks(rows, (source, target) => {
        if (hasBit(among, target)) addBit(found, source)
      })
    },
    addTargets(of, found) {
      visitLinks(of, (_, target) => addBit(found, target))
    },
  }
}

/** The rows of the ids that are referred to, by permanent numbers. */
interface Places {
  numberOf(id: string): number
  /** The row at the last lookup; if it was replaced, `catchUp` updates it. */
  at(number: number): number
  catchUp(): void
}

function createPlaces(targets: LinkTargets): Places {
  const numbers = new Map<string, number>()
  const places = createNumbers()
  const upTo = { rows: 0, generation: 0 }
  return {
    at: (number) => places.at(number),
    numberOf(id) {
      const known = numbers.get(id)
      if (known !== undefined) return known
      const number = numbers.size
      numbers.set(id, number)
      places.push(targets.find(id) ?? NOWHERE)
      return number
    },
    catchUp() {
      const generation = targets.generation()
      if (generation !== upTo.generation) {
        places.fill(NOWHERE)
        upTo.generation = generation
        upTo.rows = 0
      }
      for (const size = targets.size(); upTo.rows < size; upTo.rows++) {
        const number = numbers.get(targets.row(upTo.rows)?.stored.id ?? '')
        if (number !== undefined) places.set(number, upTo.rows)
      }
    },
  }
}
