import type { IndexEntry, SortKey } from './query.js'
import type { StoredResource } from './storage.js'
import { OperationError } from '../errors/index.js'

/** Position of a resource in a sort order: one value per sort key, and its id. */
export interface SortPosition {
  readonly keys: readonly (string | number | undefined)[]
  readonly id: string
}

/** A resource with its index entries. */
export interface IndexedResource {
  readonly stored: StoredResource
  readonly entries: readonly IndexEntry[]
}

/** Returns the position of a resource in a sort order. */
export function positionOf(indexed: IndexedResource, sort: readonly SortKey[]): SortPosition {
  return { keys: sort.map((key) => keyOf(indexed, key)), id: indexed.stored.id }
}

function keyOf({ stored, entries }: IndexedResource, { param, field, descending }: SortKey): string | number | undefined {
  if (field === 'id' || field === 'lastUpdated') return stored[field]
  return sortKeyAmong(
    entries.flatMap((entry) => (entry.param === param ? (entry[field] ?? []) : [])),
    descending,
  )
}

/** Returns the one of several values by which a resource is sorted: the smallest or, if descending, the largest; `undefined` if there is none. */
export function sortKeyAmong(values: readonly (string | number)[], descending: boolean): string | number | undefined {
  return values.reduce<string | number | undefined>((best, value) => {
    if (best === undefined) return value
    return compareKeys(value, best) > 0 === descending ? value : best
  }, undefined)
}

/** Compares two positions, as for `Array.sort`. Resources without a key come last in both directions; equal keys are ordered by id. */
export function comparePositions(a: SortPosition, b: SortPosition, sort: readonly SortKey[]): number {
  return compareSortKeys(a, b, sort) || compareIds(a.id, b.id)
}

/** As `comparePositions`, without ids. */
export function compareSortKeys(a: Pick<SortPosition, 'keys'>, b: Pick<SortPosition, 'keys'>, sort: readonly SortKey[]): number {
  for (let index = 0; index < sort.length; index++) {
    const left = a.keys[index]
    const right = b.keys[index]
    if (left === right) continue
    if (left === undefined || right === undefined) return left === undefined ? 1 : -1
    const order = compareKeys(left, right)
    if (order !== 0) return sort[index]?.descending === true ? -order : order
  }
  return 0
}

/** Compares ids or type names, which are ASCII. */
export function compareIds(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

function compareKeys(a: string | number, b: string | number): number {
  return typeof a === 'number' && typeof b === 'number' ? a - b : compareCodePoints(String(a), String(b))
}

/** JavaScript compares UTF-16 code units, which puts U+E000 to U+FFFF after the characters beyond U+FFFF. */
function compareCodePoints(a: string, b: string): number {
  let index = 0
  while (index < a.length && a.charCodeAt(index) === b.charCodeAt(index)) index++
  return codePointRank(a, index) - codePointRank(b, index)
}

function codePointRank(text: string, index: number): number {
  if (index >= text.length) return -1
  const unit = text.charCodeAt(index)
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}

/** The position of a version in a history. */
export interface HistoryPosition {
  /** Milliseconds since 1970. */
  readonly updated: number
  readonly type: string
  readonly id: string
  readonly version: number
}

/** Compares positions in a history, as for `Array.sort`: the latest first, then by type, by id, and the later version first. */
export function historyOrder(a: HistoryPosition, b: HistoryPosition): number {
  return b.updated - a.updated || compareIds(a.type, b.type) || compareIds(a.id, b.id) || b.version - a.version
}

/** Encodes a position in a history as an opaque cursor. */
export function historyCursor({ updated, type, id, version }: HistoryPosition): string {
  return JSON.stringify([updated, type, id, version])
}

/**
 * Decodes a cursor of `historyCursor`.
 *
 * @throws {OperationError} `search-invalid` when the text is not such a cursor.
 */
export function readHistoryCursor(cursor: string): HistoryPosition {
  const [updated, type, id, version] = cursorParts(cursor)
  if (
    Number.isSafeInteger(updated) &&
    typeof updated === 'number' &&
    typeof type === 'string' &&
    typeof id === 'string' &&
    isVersion(version)
  ) {
    return { updated, type, id, version }
  }
  throw new OperationError('search-invalid', 'The cursor of the history is not valid.', { expression: ['_cursor'] })
}

/** Parses a versionId as adapters store it: an integer from 1 to 2 ** 31 - 1. `undefined` for any other text. */
export function versionNumber(versionId: string): number | undefined {
  const number = Number(versionId)
  return isVersion(number) && String(number) === versionId ? number : undefined
}

function isVersion(version: unknown): version is number {
  return typeof version === 'number' && Number.isInteger(version) && version > 0 && version < 2 ** 31
}

/** Parses a cursor that is a JSON list. Returns an empty list for any other text, because a caller may send anything. */
export function cursorParts(cursor: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(cursor)
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}
