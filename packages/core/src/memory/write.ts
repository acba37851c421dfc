import {
  checkLaidOut,
  checkVersion,
  CONTAINED_PARAM,
  containedPuts,
  storedResource,
  type HistoryPosition,
  type PutEntry,
  type StoredResource,
  type WriteEntry,
  type WriteResult,
  type ChangedAddress,
  type StorageChanges,
} from '../storage/index.js'
import type { MemoryVersion, VersionLog } from './history.js'
import { createResourceTable, type ResourceTable } from './resource-table.js'

/** The content of a memory storage. */
export interface MemoryState {
  readonly tables: Map<string, ResourceTable>
  /** The last version of every `Type/id` that was ever written, including deleted ones. */
  readonly versions: Map<string, MemoryVersion>
  /** Every version; absent when old ones are not kept. */
  readonly log: VersionLog | undefined
  readonly now: () => Date
  readonly changes: ChangeLog
  /** Number of writes so far. */
  writes: number
}

interface Step {
  readonly entry: WriteEntry
  readonly before: MemoryVersion | undefined
  readonly after: MemoryVersion | undefined
}

/** Applies all entries or, when one is refused, none. */
export function applyWrites(state: MemoryState, entries: readonly WriteEntry[]): readonly WriteResult[] {
  const steps = plan(state, entries)
  for (const step of steps) apply(state, step)
  state.writes++
  return steps.map((step) => resultOf(step, state.now()))
}

/** Finds the version of every entry, as if the entries before it had been applied. */
function plan({ versions, log, now }: MemoryState, entries: readonly WriteEntry[]): readonly Step[] {
  const planned = new Map<string, MemoryVersion>()
  const at = now().getTime()
  return entries.map((entry) => {
    const address = `${entry.type}/${entry.id}`
    const before = planned.get(address) ?? versions.get(address)
    check(entry, before)
    const after = versionAfter(entry, before, { at, keeps: log !== undefined })
    if (after !== undefined) planned.set(address, after)
    return { entry, before, after }
  })
}

function check(entry: WriteEntry, before: MemoryVersion | undefined): void {
  checkLaidOut(entry)
  checkVersion(entry, isCurrent(before) ? String(before.version) : null)
}

interface Writing {
  /** Milliseconds since 1970. */
  readonly at: number
  /** Whether earlier versions are kept. */
  readonly keeps: boolean
}

function versionAfter(entry: WriteEntry, before: MemoryVersion | undefined, { at, keeps }: Writing): MemoryVersion | undefined {
  if (entry.op === 'delete' && !isCurrent(before)) return before
  const next = { ...positionAfter(entry, before, at), created: entry.op === 'put' && !isCurrent(before) }
  const chained = keeps && before !== undefined ? { ...next, before } : next
  return entry.op === 'delete' ? chained : { ...chained, stored: storedAs(entry, next) }
}

function positionAfter({ type, id }: WriteEntry, before: MemoryVersion | undefined, at: number): HistoryPosition {
  return { type, id, version: (before?.version ?? 0) + 1, updated: Math.max(at, before?.updated ?? at) }
}

function isCurrent(version: MemoryVersion | undefined): version is MemoryVersion {
  return version?.stored !== undefined
}

function apply({ tables, versions, log, changes }: MemoryState, { entry, before, after }: Step): void {
  if (after === undefined || after === before) return
  versions.set(`${entry.type}/${entry.id}`, after)
  log?.add(after)
  changes.add(entry)
  const table = tableOf(tables, entry.type)
  for (const { type, id } of containedIn(table, entry.id)) tables.get(type)?.delete(id)
  if (entry.op === 'delete' || after.stored === undefined) return table.delete(entry.id)
  table.put({ stored: after.stored, length: entry.text.length, updated: after.updated }, entry.entries)
  for (const put of containedPuts(entry)) {
    tableOf(tables, put.type).put({ stored: storedAs(put, after), length: put.text.length, updated: after.updated }, put.entries)
  }
}

function tableOf(tables: MemoryState['tables'], type: string): ResourceTable {
  const table = tables.get(type) ?? createResourceTable()
  tables.set(type, table)
  return table
}

/** The resources contained in the current version of a resource. */
function containedIn(table: ResourceTable, id: string): readonly { readonly type: string; readonly id: string }[] {
  const row = table.find(id)
  const entries = row === undefined ? undefined : table.param(CONTAINED_PARAM)?.entriesOf(row)
  return entries?.map(({ system: type = '', value = '' }) => ({ type, id: value })) ?? []
}

function storedAs({ type, id, text }: PutEntry, { version, updated }: Pick<HistoryPosition, 'version' | 'updated'>): StoredResource {
  return storedResource({ type, id, text, versionId: String(version), lastUpdated: instant(updated) })
}

function resultOf({ entry, before, after }: Step, now: Date): WriteResult {
  const written = after !== before
  return {
    type: entry.type,
    id: entry.id,
    ...(after !== undefined && written && { versionId: String(after.version) }),
    lastUpdated: after?.stored?.lastUpdated ?? instant(after?.updated ?? now.getTime()),
    created: entry.op === 'put' && !isCurrent(before),
  }
}

function instant(at: number): string {
  return new Date(at).toISOString()
}

/** The addresses of the last writes, in order. */
interface ChangeLog {
  add(address: ChangedAddress): void
  /** The addresses added after the mark; `unknown` without a mark, or when it is of another log or too old. */
  since(mark: string | undefined): StorageChanges
}

/** Minimum number of addresses that are kept; a reader that needs older ones reads everything again. */
const KEPT = 8_192

/** Creates an empty log, whose marks no other log knows. */
export function createChangeLog(): ChangeLog {
  // Created at the first call of `since`, because loading the code for it takes Node as long as a small validation.
  let name: string | undefined
  let kept: ChangedAddress[] = []
  let forgotten = 0
  return {
    add({ type, id }) {
      kept.push({ type, id })
      if (kept.length < KEPT * 2) return
      forgotten += kept.length - KEPT
      kept = kept.slice(-KEPT)
    },
    since(mark = '') {
      name ??= crypto.randomUUID()
      const [own, number = ''] = mark.split(' ')
      const place = own === name ? Number(number) - forgotten : -1
      return { mark: `${name} ${forgotten + kept.length}`, changed: place >= 0 ? kept.slice(place) : 'unknown' }
    },
  }
}
