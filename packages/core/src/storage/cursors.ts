import { OperationError } from '../errors/index.js'

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
  return b.updated - a.updated || compareTexts(a.type, b.type) || compareTexts(a.id, b.id) || b.version - a.version
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

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
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
