import { textHolds, type IndexEntry, type TextComparison } from '../storage/index.js'

/** Positions of entries by the text of one field. Built at first use, then kept up with the entries. */
export interface Postings {
  /** Lists of the positions whose text satisfies the comparison. */
  positions(comparison: TextComparison): readonly (readonly number[])[]
}

export function createPostings(field: TextComparison['field'], entries: readonly IndexEntry[]): Postings {
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
    positions(comparison) {
      catchUp()
      return textsFor(comparison, byText).map((text) => byText.get(text) ?? [])
    },
  }
}

function textsFor(comparison: TextComparison, byText: ReadonlyMap<string, unknown>): readonly string[] {
  if (comparison.op === 'eq') return [comparison.operand]
  if (comparison.op === 'in') return [...new Set(comparison.operands)]
  return Array.from(byText.keys()).filter((text) => textHolds(text, comparison))
}
