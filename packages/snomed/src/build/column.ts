import { bytesOf, type Lists } from '../release/section-reader.js'
import { highOf, idTable, lowOf, type IdTable } from '../release/id-table.js'

/** A growing column of 32-bit numbers. */
export interface Column {
  readonly length: number
  push(value: number): void
  /** Returns the numbers so far. */
  values(): Uint32Array
}

/** Growth factor of a full column; a larger factor would leave more of it unused. */
const GROWTH = 1.25

/** Creates an empty column. */
export function column(): Column {
  let numbers = new Uint32Array(1024)
  let length = 0
  return {
    get length() {
      return length
    },
    push(value) {
      if (length === numbers.length) {
        const larger = new Uint32Array(length * GROWTH)
        larger.set(numbers)
        numbers = larger
      }
      numbers[length++] = value
    },
    values: () => numbers.subarray(0, length),
  }
}

/** A column of texts, stored as consecutive UTF-8. */
export interface TextColumn {
  push(text: string): void
  /** Returns the bytes of one text. */
  bytes(place: number): Uint8Array
  /** Returns all bytes. */
  all(): Uint8Array
}

/** Creates an empty column of texts. */
export function textColumn(): TextColumn {
  const encoder = new TextEncoder()
  const ends = column()
  let bytes = new Uint8Array(4096)
  let length = 0
  return {
    push(text) {
      while (length + text.length * 3 > bytes.length) {
        const larger = new Uint8Array(bytes.length * GROWTH)
        larger.set(bytes)
        bytes = larger
      }
      length += encoder.encodeInto(text, bytes.subarray(length)).written
      ends.push(length)
    },
    bytes(place) {
      const values = ends.values()
      return bytes.subarray(place === 0 ? 0 : values[place - 1], values[place])
    },
    all: () => bytes.subarray(0, length),
  }
}

/** Numbers texts in the order of their first appearance. */
export interface Numbering {
  readonly texts: readonly string[]
  numberOf(text: string): number
}

/** Creates a numbering that starts with these texts. */
export function numbering(known: readonly string[] = []): Numbering {
  const numbers = new Map(known.map((text, number) => [text, number]))
  const texts = [...known]
  return {
    texts,
    numberOf(text) {
      const known = numbers.get(text)
      if (known !== undefined) return known
      numbers.set(text, texts.length)
      return texts.push(text) - 1
    },
  }
}

/** A section, with its name. */
export type Section = readonly [name: string, bytes: Uint8Array]

/** Stores lists as two sections. */
export function listSections(name: string, lists: Lists): readonly Section[] {
  return [
    [`${name}.start`, bytesOf(lists.start)],
    [name, bytesOf(lists.items)],
  ]
}

/** Collects rows of components in their original order, with id and time. */
export interface ComponentRows {
  readonly length: number
  /** Adds a row, of which the first two columns are read. */
  push(row: readonly string[]): void
  readonly times: Uint32Array
  /** Returns the row of each id, in ascending order of ids; if an id occurs several times, its newest row. */
  sorted(): SortedRows
}

/** Ids in ascending order, with the numbers of their rows. */
export interface SortedRows {
  readonly ids: IdTable
  readonly rows: Uint32Array
}

/** Creates an empty list of rows. */
export function componentRows(): ComponentRows {
  const [high, low, times] = [column(), column(), column()]
  return {
    get length() {
      return high.length
    },
    push([id = '', effectiveTime]) {
      high.push(highOf(id))
      low.push(lowOf(id))
      times.push(Number(effectiveTime))
    },
    get times() {
      return times.values()
    },
    sorted() {
      const [highs, lows, all] = [high.values(), low.values(), times.values()]
      const order = Uint32Array.from({ length: highs.length }, (_, row) => row)
      const at = (numbers: Uint32Array, row: number): number => numbers[row] ?? 0
      order.sort((a, b) => at(highs, a) - at(highs, b) || at(lows, a) - at(lows, b) || at(all, b) - at(all, a) || b - a)
      const rows = order.filter((row, i) => {
        const before = order[i - 1]
        return before === undefined || at(highs, row) !== at(highs, before) || at(lows, row) !== at(lows, before)
      })
      return { ids: idTable({ high: rows.map((row) => at(highs, row)), low: rows.map((row) => at(lows, row)) }), rows }
    },
  }
}
