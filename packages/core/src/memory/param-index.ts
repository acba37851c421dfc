import type { Comparison, EntryTest, IndexEntry } from '../storage/index.js'
import { isNumberComparison, isTextComparison, satisfies, textHolds, type NumberComparison, type TextComparison } from './entry-test.js'

type TextField = TextComparison['field']
type NumberField = NumberComparison['field']

/**
 * The entries of one search parameter over all resources of a type. Entries are only added, each at the next position; those of
 * replaced resources stay until the table is built anew.
 */
export interface ParamIndex {
  /** @param row Number of the resource in its table. */
  add(row: number, entry: IndexEntry): void
  /** The row of each entry that passes the test; a row with several such entries comes several times. */
  rows(test: Pick<EntryTest, 'all'>): Iterable<number>
}

export function createParamIndex(): ParamIndex {
  const rows: number[] = []
  const entries: IndexEntry[] = []
  const postings = new Map<TextField, Postings>()
  const orders = new Map<NumberField, Order>()
  const postingsOf = (field: TextField): Postings => {
    const found = postings.get(field) ?? createPostings(field, entries)
    postings.set(field, found)
    return found
  }
  const orderOf = (field: NumberField): Order => {
    const found = orders.get(field) ?? createOrder(field, entries)
    orders.set(field, found)
    return found
  }
  const candidates = (all: readonly Comparison[]): Iterable<number> => {
    const text = mostSelective(all)
    if (text !== undefined) return postingsOf(text.field).positions(text)
    const number = all.find(isNumberComparison)
    return number === undefined ? entries.keys() : orderOf(number.field).positions(number)
  }
  return {
    add(row, entry) {
      rows.push(row)
      entries.push(entry)
    },
    *rows({ all }) {
      for (const position of candidates(all)) {
        const row = rows[position]
        const entry = entries[position]
        if (row !== undefined && entry !== undefined && satisfies(entry, all)) yield row
      }
    },
  }
}

/** The comparison to look entries up by: exact ones before patterns, a value before a text before a system. */
function mostSelective(all: readonly Comparison[]): TextComparison | undefined {
  const texts = all.filter(isTextComparison)
  return texts.sort((a, b) => cost(a) - cost(b))[0]
}

function cost({ op, field }: TextComparison): number {
  return (op === 'eq' || op === 'in' ? 0 : 3) + ['value', 'text', 'system'].indexOf(field)
}

/** Positions by the text of one field. Built at first use, then kept up with the entries. */
interface Postings {
  positions(comparison: TextComparison): Iterable<number>
}

function createPostings(field: TextField, entries: readonly IndexEntry[]): Postings {
  const byText = new Map<string, number[]>()
  let upTo = 0
  const catchUp = (): void => {
    for (; upTo < entries.length; upTo++) {
      const text = entries[upTo]?.[field]
      if (text === undefined) continue
      const list = byText.get(text)
      if (list === undefined) byText.set(text, [upTo])
      else list.push(upTo)
    }
  }
  return {
    *positions(comparison) {
      catchUp()
      for (const text of textsFor(comparison, byText.keys())) yield* byText.get(text) ?? []
    },
  }
}

function textsFor(comparison: TextComparison, texts: Iterable<string>): Iterable<string> {
  if (comparison.op === 'eq') return [comparison.operand]
  if (comparison.op === 'in') return new Set(comparison.operands)
  return Array.from(texts).filter((text) => textHolds(text, comparison))
}

/** Positions in the order of one number field. Built at first use, then merged with what was added. */
interface Order {
  positions(comparison: NumberComparison): Iterable<number>
}

function createOrder(field: NumberField, entries: readonly IndexEntry[]): Order {
  let sorted: number[] = []
  let upTo = 0
  const at = (position: number): number => entries[position]?.[field] ?? 0
  const catchUp = (): void => {
    const added: number[] = []
    for (; upTo < entries.length; upTo++) if (entries[upTo]?.[field] !== undefined) added.push(upTo)
    if (added.length > 0) sorted = sorted.concat(added).sort((a, b) => at(a) - at(b))
  }
  return {
    positions({ op, operand }) {
      catchUp()
      const start = firstIndex(sorted, (position) => at(position) >= operand)
      const end = firstIndex(sorted, (position) => at(position) > operand)
      switch (op) {
        case 'eq':
          return sorted.slice(start, end)
        case 'lt':
          return sorted.slice(0, start)
        case 'le':
          return sorted.slice(0, end)
        case 'gt':
          return sorted.slice(end)
        case 'ge':
          return sorted.slice(start)
      }
    },
  }
}

/** The index of the first item from which on the predicate holds. */
export function firstIndex<T>(items: readonly T[], predicate: (item: T) => boolean): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const item = items[middle]
    if (item !== undefined && predicate(item)) high = middle
    else low = middle + 1
  }
  return low
}
