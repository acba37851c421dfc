import {
  historyOrder,
  historyCursor,
  readHistoryCursor,
  type HistoryPage,
  type HistoryPeriod,
  type HistoryPosition,
  type HistoryQuery,
  type ResourceHistory,
  type HistoryItem,
  type StoredResource,
} from '../storage/index.js'
import { firstWhere } from '../bits/index.js'

/** A version that was written, with the earlier ones as far as they are kept. */
export interface MemoryVersion extends HistoryPosition {
  readonly created: boolean
  /** Absent for a deletion. */
  readonly stored?: StoredResource
  readonly before?: MemoryVersion
}

/** Every version of a storage. */
export interface VersionLog {
  add(version: MemoryVersion): void
  /** When the next version of the resource was written, in milliseconds since 1970; `Infinity` for the last. */
  replaced(version: MemoryVersion): number
  /** In the order of a history. Must not be changed. */
  ordered(): readonly MemoryVersion[]
}

/** Creates an empty log. Versions arrive nearly in order, so sorting them again examines each about once. */
export function createVersionLog(): VersionLog {
  const versions: MemoryVersion[] = []
  const replaced = new Map<MemoryVersion, number>()
  let sorted = 0
  return {
    add(version) {
      versions.push(version)
      if (version.before !== undefined) replaced.set(version.before, version.updated)
    },
    replaced: (version) => replaced.get(version) ?? Infinity,
    ordered() {
      if (sorted < versions.length) versions.sort(historyOrder)
      sorted = versions.length
      return versions
    },
  }
}

/** The versions that a history is read from. */
interface KeptVersions {
  readonly log: VersionLog
  /** The last version of every `Type/id`. */
  readonly versions: ReadonlyMap<string, MemoryVersion>
}

/** @param kept Throws when the storage is closed. */
export function historyOf(kept: () => KeptVersions): ResourceHistory {
  return {
    async version(type, id, versionId) {
      let version = kept().versions.get(`${type}/${id}`)
      while (version !== undefined && String(version.version) !== versionId) version = version.before
      return version && versionOf(version)
    },
    async page(query) {
      const { log, versions } = kept()
      const { types, id } = query
      const ordered = id === undefined ? log.ordered() : chainsOf(types.map((type) => versions.get(`${type}/${id}`)))
      return pageOf({ log, ordered }, query)
    },
  }
}

const DEFAULT_PAGE = 100

interface AskedVersions {
  readonly log: VersionLog
  /** In the order of a history. */
  readonly ordered: readonly MemoryVersion[]
}

function pageOf(asked: AskedVersions, query: HistoryQuery): HistoryPage {
  const limit = query.limit ?? DEFAULT_PAGE
  const found = firstOf(asked, query, limit + 1)
  const items = fitting(found.slice(0, limit), query.maxBytes)
  const end = items.at(-1)
  return { items: items.map(versionOf), ...(end !== undefined && found.length > items.length && { next: historyCursor(end) }) }
}

/** The first versions, up to the one with which their texts exceed the limit. */
function fitting(versions: readonly MemoryVersion[], maxBytes = Infinity): readonly MemoryVersion[] {
  let bytes = 0
  const end = versions.findIndex(({ stored }) => {
    const isOver = bytes > maxBytes
    bytes += stored?.text.length ?? 0
    return isOver
  })
  return end < 0 ? versions : versions.slice(0, end)
}

/** The versions that the query asks for, at most `most`. */
function firstOf({ log, ordered }: AskedVersions, query: HistoryQuery, most: number): readonly MemoryVersion[] {
  const { types, since = -Infinity, at } = query
  const asked = new Set(types)
  const found: MemoryVersion[] = []
  for (let index = startOf(ordered, query); found.length < most; index++) {
    const version = ordered[index]
    if (version === undefined || version.updated < since) break
    if (asked.has(version.type) && isCurrentIn(version, at, log)) found.push(version)
  }
  return found
}

function isCurrentIn(version: MemoryVersion, at: HistoryPeriod | undefined, log: VersionLog): boolean {
  if (at === undefined) return true
  return version.stored !== undefined && version.updated <= at.to && log.replaced(version) > at.from
}

function startOf(versions: readonly MemoryVersion[], { after }: HistoryQuery): number {
  if (after === undefined) return 0
  const position = readHistoryCursor(after)
  return firstWhere(versions.length, (index) => isBehind(versions[index], position))
}

function isBehind(version: MemoryVersion | undefined, position: HistoryPosition): boolean {
  return version !== undefined && historyOrder(version, position) > 0
}

function chainsOf(ends: readonly (MemoryVersion | undefined)[]): readonly MemoryVersion[] {
  const versions: MemoryVersion[] = []
  for (let version of ends) for (; version !== undefined; version = version.before) versions.push(version)
  return versions.sort(historyOrder)
}

function versionOf({ type, id, version, updated, created, stored }: MemoryVersion): HistoryItem {
  const lastUpdated = new Date(updated).toISOString()
  return { type, id, versionId: String(version), lastUpdated, created, ...(stored !== undefined && { stored }) }
}
