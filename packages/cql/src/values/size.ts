import { failedEvaluation } from '../problem.js'
import { isDecimal, isList, isTemporal, type Kind, type Value } from './value.js'

interface Extent {
  readonly size: number
  /** Levels of lists and tuples. */
  readonly depth: number
}

/** Known extents of lists and tuples. Values share parts, so a value with few parts in memory may take very long to walk. */
const known = new WeakMap<object, Extent>()

/** Maximum nesting of lists and tuples. */
const MAX_DEPTH = 200

/** Number of characters of a text that cost as much as one item of a list. */
const TEXT_OF_ITEM = 512

/** Number of items up to which a list is short. */
const SHORT = 32

/** Cost of a decimal that is too long to be computed with as a number. */
const LONG_DECIMAL = 1.5

/** Cost of a date or time as a single operand. */
const TEMPORAL = 0.5

/** Cost of a value as an item of a list, as a multiple of its cost as a single operand. */
const SINGLE = 8

/** Cost of items in addition to that of a number: comparing intervals computes the bounds of both, comparing quantities converts units. */
const EXTENT_OF_KIND: Readonly<Record<Exclude<Kind, 'concept' | 'tuple'>, Extent>> = {
  interval: { size: 8, depth: 0 },
  quantity: { size: 6, depth: 0 },
  ratio: { size: 8, depth: 0 },
  date: { size: 2, depth: 0 },
  dateTime: { size: 2, depth: 0 },
  time: { size: 2, depth: 0 },
  decimal: { size: 1, depth: 0 },
  code: { size: 4, depth: 0 },
  fhir: { size: 0, depth: 0 },
  valueSet: { size: 0, depth: 0 },
  codeSystem: { size: 0, depth: 0 },
}

/**
 * The size of a value for operators that walk it: items of lists and tuples at all levels, and long texts. Its own time depends only on the parts in memory.
 *
 * @throws {OperationError} `unprocessable` for lists and tuples that are nested more than 200 deep.
 */
export function sizeOf(value: Value): number {
  if (typeof value === 'string') return Math.floor(value.length / TEXT_OF_ITEM)
  if (typeof value !== 'object' || value === null) return 0
  if (!isList(value) && value.kind !== 'tuple') {
    if (value.kind === 'concept') return value.codes.length
    if (isTemporal(value)) return TEMPORAL
    return isDecimal(value) && typeof value.units === 'bigint' ? LONG_DECIMAL : EXTENT_OF_KIND[value.kind].size / SINGLE
  }
  const { size, depth } = extentOf(value, 1)
  if (depth > MAX_DEPTH) throw failedEvaluation(`Lists and tuples may be nested ${MAX_DEPTH} deep.`)
  return size
}

/** Number of characters whose case is changed in one step: outside of ASCII that takes forty times as long as comparing them. */
const CASES_OF_STEP = 16

/** Steps of changing the case of all texts in a value, after its size was counted. */
export function caseSteps(value: Value): number {
  if (typeof value === 'string') return value.length / CASES_OF_STEP
  if (typeof value !== 'object' || value === null || (!isList(value) && value.kind !== 'tuple')) return 0
  let steps = 0
  for (const part of isList(value) ? value : value.elements.values()) steps += caseSteps(part)
  return steps
}

/** Steps of writing an item of a list, or as many characters of a text as cost the same. */
const STEPS_OF_WRITTEN_ITEM = 8

/**
 * Steps of writing a value as a text. Values share parts, so the text of one with few parts in memory may have no end.
 *
 * @throws {OperationError} as `sizeOf`
 */
export function writingSteps(value: Value): number {
  return sizeOf(value) * STEPS_OF_WRITTEN_ITEM
}

const NONE: Extent = { size: 0, depth: 0 }
const TOO_DEEP: Extent = { size: 0, depth: MAX_DEPTH + 1 }

/** The extent that a part adds to the value that contains it. */
function extentOf(value: Value, level: number): Extent {
  if (typeof value === 'string') return value.length < TEXT_OF_ITEM ? NONE : { size: sizeOf(value), depth: 0 }
  if (typeof value !== 'object' || value === null) return NONE
  if (isList(value)) return extentOfParts(value, value, level)
  if (value.kind === 'tuple') return extentOfParts(value, [...value.elements.values()], level)
  return value.kind === 'concept' ? { size: value.codes.length, depth: 0 } : EXTENT_OF_KIND[value.kind]
}

function hasParts(value: Value): boolean {
  return typeof value === 'object' && value !== null && (isList(value) || value.kind === 'tuple')
}

function extentOfParts(whole: object, parts: readonly Value[], level: number): Extent {
  if (parts.length <= SHORT && !parts.some(hasParts)) {
    let size = parts.length
    for (const part of parts) size += extentOf(part, level + 1).size
    return { size, depth: 1 }
  }
  const before = known.get(whole)
  if (before !== undefined) return before
  if (level > MAX_DEPTH) return TOO_DEEP
  let size = parts.length
  let depth = 0
  for (const part of parts) {
    const inner = extentOf(part, level + 1)
    size += inner.size
    depth = Math.max(depth, inner.depth)
  }
  const extent = { size, depth: depth + 1 }
  // Most values are small, and counting a small one again is faster than remembering its size.
  // The depth of a value that is nested too deep is known only at the top level.
  if (size > SHORT && (depth < MAX_DEPTH || level === 1)) known.set(whole, extent)
  return extent
}

const WORD = 8
const HEADER = 24
const TEMPORAL_BYTES = 160

/** Estimates the memory of a value in bytes, without the JSON of FHIR elements, which is part of a resource. */
export function bytesOfValue(value: Value): number {
  let bytes = 0
  const open: unknown[] = [value]
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    bytes += WORD
    if (typeof part === 'string') bytes += HEADER + part.length
    if (typeof part !== 'object' || part === null) continue
    bytes += HEADER
    if ('kind' in part && part.kind === 'fhir') continue
    if ('fields' in part) bytes += TEMPORAL_BYTES
    else open.push(...partsOf(part))
  }
  return bytes
}

function partsOf(part: object): readonly unknown[] {
  const parts: readonly unknown[] = part instanceof Map ? [...part.values()] : Array.isArray(part) ? part : Object.values(part)
  return parts.filter((one) => one !== undefined)
}
