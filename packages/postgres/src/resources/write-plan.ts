import { instantOf } from '@fhir-ops/sql'
import { checkLaidOut, containedPuts, type IndexEntry, type PutEntry, type WriteEntry, type WriteResult } from 'fhir-ops/storage'
import { checkVersion } from 'fhir-ops/internal/storage'

/** The address of a resource. */
export interface Address {
  readonly type: string
  readonly id: string
}

/** The last version of an id; a deletion has no text. */
export interface Version extends Address {
  readonly version: number
  /** Milliseconds since 1970. */
  readonly updated: number
}

/** The states of an id before and after the write. */
export interface Change extends Version {
  readonly text: string | null
  readonly entries: readonly IndexEntry[]
  /** Contained resources. */
  readonly contained: readonly PutEntry[]
  /** True if the id has had a version before. */
  readonly known: boolean
}

/** The result of each entry of a write, and one change per id, in the order of `addressesOf`. */
export interface WritePlan {
  readonly results: readonly WriteResult[]
  readonly changes: readonly Change[]
  /** Versions that the same write replaces again: an id may occur several times. */
  readonly passed: readonly Change[]
}

/** The last version of an id before a write. */
export interface VersionBefore extends Version {
  readonly current: boolean
}

/**
 * Determines the effect of a write, entry by entry, without writing.
 *
 * @param before The last versions of the entries' ids.
 * @param now Milliseconds since 1970.
 * @throws {OperationError} `version-conflict`, `resource-invalid`
 */
export function writePlan(entries: readonly WriteEntry[], before: readonly VersionBefore[], now: number): WritePlan {
  const versions = new Map(before.map((version) => [keyOf(version), version]))
  const known = new Set(versions.keys())
  const changes = new Map<string, Change>()
  const passed: Change[] = []
  const results = entries.map((entry): WriteResult => {
    const key = keyOf(entry)
    const last = versions.get(key)
    checkVersion(entry, last?.current === true ? String(last.version) : null)
    const existed = last?.current === true
    const next = versionAfter(entry, last, now)
    const result = { type: entry.type, id: entry.id, lastUpdated: instantOf(next.updated), created: next.current && !existed }
    if (!existed && !next.current) return result
    versions.set(key, next)
    const replaced = changes.get(key)
    if (replaced !== undefined) passed.push(replaced)
    changes.set(key, { ...next, ...contentOf(entry), known: known.has(key) })
    return { ...result, versionId: String(next.version) }
  })
  return { results, changes: addressesOf(entries).flatMap((address) => changes.get(keyOf(address)) ?? []), passed }
}

/** @throws {OperationError} `resource-invalid` if a text is not laid out for storage. */
export function checkTexts(entries: readonly WriteEntry[]): void {
  for (const entry of entries) checkLaidOut(entry)
}

/** Returns the ids of the entries, each once, in the same order for every writer, so that writers do not deadlock. */
export function addressesOf(entries: readonly WriteEntry[]): readonly Address[] {
  const addresses = new Map(entries.map((entry) => [keyOf(entry), entry]))
  return [...addresses].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { type, id }]) => ({ type, id }))
}

function keyOf({ type, id }: Address): string {
  return `${type}/${id}`
}

function versionAfter({ type, id, op }: WriteEntry, last: VersionBefore | undefined, now: number): VersionBefore {
  // If the clock was set back, the version must not become older than its predecessor.
  return { type, id, version: (last?.version ?? 0) + 1, updated: Math.max(now, last?.updated ?? now), current: op === 'put' }
}

function contentOf(entry: WriteEntry): Pick<Change, 'text' | 'entries' | 'contained'> {
  if (entry.op === 'delete') return { text: null, entries: [], contained: [] }
  return { text: entry.text, entries: entry.entries, contained: containedPuts(entry) }
}
