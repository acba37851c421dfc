import { createNumbers } from '../bits/index.js'
import { textHolds, type TextComparison } from '../storage/index.js'

/** One text field of the entries of a search parameter: each different text once, and for each entry the number of its text. */
export interface TextColumn {
  /** Sets the text of an entry that comes after all entries with a text. */
  set(entry: number, text: string): void
  has(entry: number): boolean
  at(entry: number): string | undefined
  /** The number of the text of each entry: from 1, or 0 if it has none. Ends with the last entry that has one. Must not be changed. */
  numbers(): Uint32Array
  /** The number of a text; `undefined` if no entry has it. */
  numberOf(text: string): number | undefined
  text(number: number): string | undefined
  /** The largest number of a text. */
  size(): number
  /** Visits the entries whose text satisfies a comparison, in no order. */
  visit(comparison: TextComparison, visit: (entry: number) => void): void
  /** Returns a test of single entries. */
  test(comparison: TextComparison): (entry: number) => boolean
}

/** The number of entries without text. */
const NONE = 0

/** Creates an empty column. */
export function createTextColumn(): TextColumn {
  const numbers = new Map<string, number>()
  const texts = ['']
  const numberOfEntry = createNumbers()
  const numberOf = (text: string): number => {
    const number = numbers.get(text) ?? texts.push(text) - 1
    if (number === texts.length - 1) numbers.set(text, number)
    return number
  }
  const numbersFor = (comparison: TextComparison): ReadonlySet<number> => {
    if (comparison.op === 'eq') return new Set([numbers.get(comparison.operand) ?? NONE])
    if (comparison.op === 'in') return new Set(comparison.operands.map((operand) => numbers.get(operand) ?? NONE))
    const found = new Set<number>()
    for (const [text, number] of numbers) if (textHolds(text, comparison)) found.add(number)
    return found
  }
  // Each entry leads to the one before it with the same text. Both lists hold an entry's index and 1, and 0 where there is none.
  const lastWith = createNumbers()
  const before = createNumbers()
  const catchUp = (): void => {
    while (lastWith.length() < texts.length) lastWith.push(0)
    for (let entry = before.length(); entry < numberOfEntry.length(); entry++) {
      const number = numberOfEntry.at(entry)
      before.push(lastWith.at(number))
      lastWith.set(number, entry + 1)
    }
  }
  return {
    set(entry, text) {
      while (numberOfEntry.length() < entry) numberOfEntry.push(NONE)
      numberOfEntry.push(numberOf(text))
    },
    has: (entry) => numberOfEntry.at(entry) !== NONE,
    at: (entry) => textWith(texts, numberOfEntry.at(entry)),
    numbers: () => numberOfEntry.all(),
    numberOf: (text) => numbers.get(text),
    text: (number) => textWith(texts, number),
    size: () => texts.length - 1,
    visit(comparison, visit) {
      catchUp()
      for (const number of numbersFor(comparison)) {
        if (number === NONE) continue
        for (let next = lastWith.at(number); next !== 0; next = before.at(next - 1)) visit(next - 1)
      }
    },
    test(comparison) {
      if (comparison.op === 'eq') {
        const wanted = numbers.get(comparison.operand)
        return (entry) => numberOfEntry.at(entry) === wanted
      }
      if (comparison.op === 'in') {
        const wanted = numbersFor(comparison)
        return (entry) => numberOfEntry.at(entry) !== NONE && wanted.has(numberOfEntry.at(entry))
      }
      return (entry) => {
        const number = numberOfEntry.at(entry)
        return number !== NONE && textHolds(texts[number] ?? '', comparison)
      }
    },
  }
}

function textWith(texts: readonly string[], number: number): string | undefined {
  return number === NONE ? undefined : texts[number]
}
