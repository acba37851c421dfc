import { addBit, createNumbers, hasBit, type Bits } from '../bits/index.js'
import { finished, type Work } from '../work/index.js'
import type { EntryColumns } from './entry-columns.js'

/**
 * The references between rows by one search parameter, so that a chain over many resources compares no texts: the value column has a number for each id
 * that is referred to, and here is the row of each of these numbers.
 */
export interface Links {
  /** Looks up, in steps, the rows of ids and the ids of rows that are new. The other functions do what is left of it. */
  catchUp(): Work<void>
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
interface LinkTargets {
  find(id: string): number | undefined
  row(number: number): { readonly stored: { readonly id: string } } | undefined
  size(): number
  /** Increases by one whenever rows get other numbers. */
  generation(): number
}

/** The data that links are built from. */
export interface Linked {
  readonly columns: EntryColumns
  /** The type that is referred to, and its resources. */
  readonly system: string
  readonly targets: LinkTargets
}

/** No row has this number. */
const NOWHERE = 0xffffffff

/** Creates the links of one search parameter to one type; they are built when needed. */
export function createLinks({ columns, system, targets }: Linked): Links {
  const places = createPlaces({ columns, targets })
  /** A function for the row that an entry refers to, as it is now. */
  const lookUp = (): ((entry: number) => number) => {
    finished(places.catchUp())
    const [rows, ids, systems] = [places.all(), columns.value.numbers(), columns.system.numbers()]
    const wanted = columns.system.numberOf(system)
    if (wanted === undefined) return () => NOWHERE
    return (entry) => (systems[entry] === wanted ? (rows[ids[entry] ?? 0] ?? NOWHERE) : NOWHERE)
  }
  const visitLinks = (sources: Bits, visit: (source: number, target: number) => void): void => {
    const targetOf = lookUp()
    columns.visitRows(sources, (entry, row) => {
      const target = targetOf(entry)
      if (target !== NOWHERE) visit(row, target)
    })
  }
  return {
    catchUp: () => places.catchUp(),
    visit: visitLinks,
    addSources(among, found) {
      const targetOf = lookUp()
      const rows = columns.rowOf.all()
      for (let entry = 0; entry < rows.length; entry++) if (hasBit(among, targetOf(entry))) addBit(found, rows[entry] ?? 0)
    },
    addSourcesAmong(sources, among, found) {
      visitLinks(sources, (source, target) => {
        if (hasBit(among, target)) addBit(found, source)
      })
    },
    addTargets(sources, found) {
      visitLinks(sources, (_, target) => addBit(found, target))
    },
  }
}

/** The rows of the ids that are referred to. */
interface Places {
  /** By the numbers of the value column; those that were replaced since the last lookup are as they were, until `catchUp`. */
  all(): Uint32Array
  /** Several callers may continue at the same time: each does what is left when its turn comes. */
  catchUp(): Work<void>
}

/** Number of lookups in a step. */
const STEP = 256

function createPlaces({ columns: { value }, targets }: Pick<Linked, 'columns' | 'targets'>): Places {
  let places = createNumbers()
  let generation = targets.generation()
  let rowsUpTo = targets.size()
  return {
    all: () => places.all(),
    *catchUp() {
      if (generation !== targets.generation()) {
        places = createNumbers()
        generation = targets.generation()
        rowsUpTo = targets.size()
      }
      while (rowsUpTo < targets.size() || places.length() <= value.size()) {
        for (const end = Math.min(rowsUpTo + STEP, targets.size()); rowsUpTo < end; rowsUpTo++) {
          const number = value.numberOf(targets.row(rowsUpTo)?.stored.id ?? '')
          if (number !== undefined && number < places.length()) places.set(number, rowsUpTo)
        }
        for (const end = Math.min(places.length() + STEP, value.size() + 1); places.length() < end;)
          places.push(targets.find(value.text(places.length()) ?? '') ?? NOWHERE)
        yield
      }
    },
  }
}
