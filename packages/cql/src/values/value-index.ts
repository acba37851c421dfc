import { decimalOf } from './compare.js'
import { equal } from './equality.js'
import { jsonText } from './json-text.js'
import { sizeOf } from './size.js'
import type { UnitConversion } from './units.js'
import { isCode, isDecimal, isFhir, type Value } from './value.js'

/** Values that can be searched by `=`, with null equal to null (as in `union`, `distinct` and `in` of lists). */
interface ValueIndex {
  has(value: Value): boolean
  /** Adds a value, and returns how often it was added. */
  add(value: Value): number
  /** The value that was added most often, the first of several; null if there is none. */
  mostFrequent(): Value
}

/** Counts steps of an evaluation. @throws {OperationError} if there were too many. */
export type Spend = (steps: number) => void

interface Entry {
  readonly value: Value
  count: number
}

const NONE: Entry = { value: null, count: 0 }

/** The cost of finding a key. */
const LOOKUP_STEPS = 0.5

/** Number of comparisons that cost one step. */
const COMPARISONS_OF_STEP = 4

/** Creates an index of values. Values of most types are found by a key; others are compared one by one, which counts as steps. */
export function createValueIndex(values: readonly Value[], convert: UnitConversion, spend: Spend): ValueIndex {
  const byKey = new Map<Key, Entry[]>()
  const withoutKey: Entry[] = []
  const all: Entry[] = []
  const among = (candidates: readonly Entry[], value: Value): Entry | undefined => {
    spend(LOOKUP_STEPS + (candidates.length * (1 + sizeOf(value))) / COMPARISONS_OF_STEP)
    return candidates.find((one) =>
      one.value === null || value === null ? one.value === value : equal(one.value, value, convert) === true,
    )
  }
  const find = (value: Value, key: Key | undefined): Entry | undefined =>
    key === undefined ? among(all, value) : (among(byKey.get(key) ?? [], value) ?? among(withoutKey, value))
  const index: ValueIndex = {
    has: (value) => find(value, keyOf(value, spend)) !== undefined,
    add(value) {
      const key = keyOf(value, spend)
      const known = find(value, key)
      if (known !== undefined) return ++known.count
      const entry = { value, count: 1 }
      all.push(entry)
      const sameKey = key === undefined ? withoutKey : byKey.get(key)
      if (sameKey !== undefined) sameKey.push(entry)
      else if (key !== undefined) byKey.set(key, [entry])
      return 1
    },
    mostFrequent: () => all.reduce<Entry>((best, one) => (one.count > best.count ? one : best), NONE).value,
  }
  spend(values.length)
  for (const value of values) index.add(value)
  return index
}

/** Of numbers, their steps of 10^-8: writing those as texts would take longer than all the rest. */
type Key = string | number | bigint

/** A key that is equal for equal values; `undefined` for values whose equality cannot be expressed by a key. */
function keyOf(value: Value, spend: Spend): Key | undefined {
  if (value === null) return 'null'
  if (typeof value === 'string') return `s${textKey(value, spend)}`
  if (typeof value === 'boolean') return `b${value}`
  if (typeof value === 'number' || typeof value === 'bigint' || isDecimal(value)) return decimalOf(value)?.units
  if (isCode(value)) return `c${textKey(JSON.stringify([value.code, value.system]), spend)}`
  return isFhir(value) ? `f${elementKey(value.json, spend)}` : undefined
}

/** Longest text that is a key by itself. V8 hashes longer ones (16,383 characters) by their length alone, so that a Map compares each with all of its length. */
const MAX_TEXT_KEY = 10_000

/** Whether a value is a text that a Map or Set finds by itself. */
export function isShortText(value: Value): boolean {
  return typeof value === 'string' && value.length <= MAX_TEXT_KEY
}

/** Keys of elements with long texts, each of which may be looked up often. */
const elementKeys = new WeakMap<object, string>()

function elementKey(json: unknown, spend: Spend): string {
  const text = jsonText(json)
  if (typeof json !== 'object' || json === null) return textKey(text, spend)
  if (text.length <= MAX_TEXT_KEY) return text
  const known = elementKeys.get(json)
  if (known !== undefined) return known
  // The data limits how many elements there are.
  const key = textKey(text, () => {})
  elementKeys.set(json, key)
  return key
}

/** A key that is equal for equal texts; different long texts may share one. */
function textKey(text: string, spend: Spend): string {
  spend(sizeOf(text))
  if (text.length <= MAX_TEXT_KEY) return text
  let hash = 0
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return `${text.length} ${hash}`
}
