import { countBits, createNumbers, createTextNumbers, hasBit, visitMembers, type Bits, type Numbers } from '../bits/index.js'
import {
  isNumberComparison,
  isTextComparison,
  type Comparison,
  type IndexEntry,
  type NumberComparison,
  type TextComparison,
  textHolds,
} from '../storage/index.js'

type TextField = TextComparison['field']
type NumberField = NumberComparison['field']

/** The fields of an entry. */
export type Fields = Omit<IndexEntry, 'param'>

/** The entries of one search parameter, numbered from 0: the row of each, and a column for each of its fields. */
export interface EntryColumns extends Readonly<Record<TextField, TextColumn> & Record<NumberField, NumberColumn>> {
  /** The row of each entry, ascending. */
  readonly rowOf: Numbers
  /** @param row Not less than that of the previous entry. */
  add(row: number, entry: Fields): void
  at(entry: number): Fields
  length(): number
  /** The number after that of the last row; 0 without entries. */
  rowLimit(): number
  /** Visits the entries that satisfy every comparison, in no order. */
  visit(all: readonly Comparison[], visit: (entry: number) => void): void
  /** Returns a test of single entries: whether one satisfies every comparison. */
  test(all: readonly Comparison[]): (entry: number) => boolean
  /** Visits the entries of a row. */
  visitRow(row: number, visit: (entry: number) => void): void
  /** Visits the entries of some rows, ascending. */
  visitRows(rows: Bits, visit: (entry: number, row: number) => void): void
}

/** Creates columns without entries. */
export function createEntryColumns(): EntryColumns {
  const rowOf = createNumbers()
  const texts = { system: createTextColumn(), value: createTextColumn(), text: createTextColumn() }
  const numbers = { low: createNumberColumn(), high: createNumberColumn() }
  const columns = { ...texts, ...numbers }
  const testOf = (comparison: Comparison): ((entry: number) => boolean) => {
    if (isTextComparison(comparison)) return texts[comparison.field].test(comparison)
    if (isNumberComparison(comparison)) return numbers[comparison.field].test(comparison)
    const column = columns[comparison.field]
    return (entry) => !column.has(entry)
  }
  const test = (all: readonly Comparison[]): ((entry: number) => boolean) => {
    const [first, ...others] = all.map(testOf)
    if (first === undefined) return () => true
    return others.length === 0 ? first : (entry) => first(entry) && others.every((holds) => holds(entry))
  }
  return {
    ...columns,
    rowOf,
    add(row, { system, value, text, low, high }) {
      const entry = rowOf.length()
      rowOf.push(row)
      if (system !== undefined) texts.system.set(entry, system)
      if (value !== undefined) texts.value.set(entry, value)
      if (text !== undefined) texts.text.set(entry, text)
      if (low !== undefined) numbers.low.set(entry, low)
      if (high !== undefined) numbers.high.set(entry, high)
    },
    at: (entry) => fieldsAt(columns, entry),
    length: () => rowOf.length(),
    rowLimit: () => (rowOf.length() === 0 ? 0 : rowOf.at(rowOf.length() - 1) + 1),
    visit(all, visit) {
      const by = mostSelective(all)
      const rest = all.filter((comparison) => comparison !== by)
      const holds = test(rest)
      const visitHeld = rest.length === 0 ? visit : (entry: number): void => void (holds(entry) && visit(entry))
      if (by === undefined) for (let entry = 0; entry < rowOf.length(); entry++) visitHeld(entry)
      else if (isTextComparison(by)) texts[by.field].visit(by, visitHeld)
      else numbers[by.field].visit(by, visitHeld)
    },
    test,
    visitRow(row, visit) {
      for (let entry = rowOf.firstFrom(0, row); entry < rowOf.length() && rowOf.at(entry) === row; entry++) visit(entry)
    },
    visitRows(rows, visit) {
      if (countBits(rows) * SMALL_PART >= rowOf.length()) {
        for (const [entry, row] of rowOf.all().entries()) if (hasBit(rows, row)) visit(entry, row)
        return
      }
      let entry = 0
      visitMembers(rows, (row) => {
        for (entry = rowOf.firstFrom(entry, row); entry < rowOf.length() && rowOf.at(entry) === row; entry++) visit(entry, row)
      })
    },
  }
}

function fieldsAt(columns: Pick<EntryColumns, TextField | NumberField>, entry: number): Fields {
  const [system, value, text] = [columns.system.at(entry), columns.value.at(entry), columns.text.at(entry)]
  const [low, high] = [columns.low.at(entry), columns.high.at(entry)]
  return {
    ...(system !== undefined && { system }),
    ...(value !== undefined && { value }),
    ...(text !== undefined && { text }),
    ...(low !== undefined && { low }),
    ...(high !== undefined && { high }),
  }
}

/** The entries of fewer rows than one for this many entries are looked up; otherwise going through all entries is faster. */
const SMALL_PART = 8

/** The comparison by which entries are looked up: exact texts first, then patterns, then numbers; a value before a text before a system. */
function mostSelective(all: readonly Comparison[]): TextComparison | NumberComparison | undefined {
  const texts = all.filter(isTextComparison).sort((a, b) => cost(a) - cost(b))
  return texts[0] ?? all.find(isNumberComparison)
}

function cost({ op, field }: TextComparison): number {
  return (op === 'eq' || op === 'in' ? 0 : 3) + ['value', 'text', 'system'].indexOf(field)
}

/** One number field of the entries of a search parameter. A comparison goes through all entries: a million take about as long as a page of results. */
interface NumberColumn {
  /** Sets the number of an entry that comes after all entries with a number. */
  set(entry: number, number: number): void
  has(entry: number): boolean
  at(entry: number): number | undefined
  /** Visits the entries whose number satisfies a comparison, ascending. */
  visit(comparison: NumberComparison, visit: (entry: number) => void): void
  /** Returns a test of single entries. */
  test(comparison: NumberComparison): (entry: number) => boolean
}

/** Stands for an absent number: every comparison with it is false. */
const ABSENT = Number.NaN

/** Creates an empty column. */
function createNumberColumn(): NumberColumn {
  let numbers = new Float64Array()
  let length = 0
  const grow = (size: number): void => {
    const larger = new Float64Array(Math.max(64, numbers.length * 2, size)).fill(ABSENT, numbers.length)
    larger.set(numbers)
    numbers = larger
  }
  const at = (entry: number): number => numbers[entry] ?? ABSENT
  return {
    set(entry, number) {
      if (entry >= numbers.length) grow(entry + 1)
      numbers[entry] = number
      length = entry + 1
    },
    has: (entry) => !Number.isNaN(at(entry)),
    at(entry) {
      const number = at(entry)
      return Number.isNaN(number) ? undefined : number
    },
    visit(comparison, visit) {
      const { from, to, but } = spanOf(comparison)
      const all = numbers.subarray(0, length)
      for (let entry = 0; entry < all.length; entry++) {
        const number = all[entry] ?? ABSENT
        if (number >= from && number <= to && number !== but) visit(entry)
      }
    },
    test(comparison) {
      const { from, to, but } = spanOf(comparison)
      return (entry) => {
        const number = at(entry)
        return number >= from && number <= to && number !== but
      }
    },
  }
}

/** The numbers that satisfy a comparison, without a choice of operators for each. */
interface Span {
  readonly from: number
  readonly to: number
  /** The bound that does not belong to the span; NaN, which no number equals, if both do. */
  readonly but: number
}

function spanOf({ op, operand }: NumberComparison): Span {
  return {
    from: op === 'lt' || op === 'le' ? -Infinity : operand,
    to: op === 'gt' || op === 'ge' ? Infinity : operand,
    but: op === 'lt' || op === 'gt' ? operand : Number.NaN,
  }
}

/** One text field of the entries of a search parameter: each different text once, and for each entry the number of its text. */
interface TextColumn {
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
function createTextColumn(): TextColumn {
  const known = createTextNumbers()
  const { texts } = known
  const numberOfEntry = createNumbers()
  /** Numbers of texts are from 1 in the column. */
  const numberOf = (text: string): number | undefined => {
    const number = known.find(text)
    return number === undefined ? undefined : number + 1
  }
  const textWith = (number: number): string | undefined => (number === NONE ? undefined : texts[number - 1])
  const numbersFor = (comparison: TextComparison): ReadonlySet<number> => {
    if (comparison.op === 'eq') return new Set([numberOf(comparison.operand) ?? NONE])
    if (comparison.op === 'in') return new Set(comparison.operands.map((operand) => numberOf(operand) ?? NONE))
    const found = new Set<number>()
    for (const [at, text] of texts.entries()) if (textHolds(text, comparison)) found.add(at + 1)
    return found
  }
  // Each entry leads to the one before it with the same text. Both lists hold an entry's index and 1, and 0 where there is none.
  const lastWith = createNumbers()
  const before = createNumbers()
  const catchUp = (): void => {
    while (lastWith.length() <= texts.length) lastWith.push(0)
    for (let entry = before.length(); entry < numberOfEntry.length(); entry++) {
      const number = numberOfEntry.at(entry)
      before.push(lastWith.at(number))
      lastWith.set(number, entry + 1)
    }
  }
  return {
    set(entry, text) {
      while (numberOfEntry.length() < entry) numberOfEntry.push(NONE)
      numberOfEntry.push(known.add(text) + 1)
    },
    has: (entry) => numberOfEntry.at(entry) !== NONE,
    at: (entry) => textWith(numberOfEntry.at(entry)),
    numbers: () => numberOfEntry.all(),
    numberOf,
    text: textWith,
    size: () => texts.length,
    visit(comparison, visit) {
      catchUp()
      for (const number of numbersFor(comparison)) {
        if (number === NONE) continue
        for (let next = lastWith.at(number); next !== 0; next = before.at(next - 1)) visit(next - 1)
      }
    },
    test(comparison) {
      if (comparison.op === 'eq') {
        const wanted = numberOf(comparison.operand)
        return (entry) => numberOfEntry.at(entry) === wanted
      }
      if (comparison.op === 'in') {
        const wanted = numbersFor(comparison)
        return (entry) => numberOfEntry.at(entry) !== NONE && wanted.has(numberOfEntry.at(entry))
      }
      return (entry) => {
        const number = numberOfEntry.at(entry)
        return number !== NONE && textHolds(texts[number - 1] ?? '', comparison)
      }
    },
  }
}
