import { OperationError } from '../errors/index.js'
import { checkLaidOut, storedResource, type PutEntry, type StoredResource, type WriteEntry, type WriteResult } from '../storage/index.js'
import { createResourceTable, type ResourceTable } from './resource-table.js'

/** What a memory storage holds. */
export interface MemoryState {
  readonly tables: Map<string, ResourceTable>
  /** The last version of every `Type/id` that was ever written, deleted ones too. */
  readonly versions: Map<string, LastVersion>
  readonly now: () => Date
}

interface LastVersion {
  readonly number: number
  /** Milliseconds since 1970. */
  readonly at: number
  readonly deleted: boolean
}

interface Step {
  readonly entry: WriteEntry
  readonly before: LastVersion | undefined
  readonly after: LastVersion | undefined
}

/** Applies all entries or, when one is refused, none. */
export function applyWrites(state: MemoryState, entries: readonly WriteEntry[]): readonly WriteResult[] {
  const steps = plan(state, entries)
  for (const step of steps) apply(state, step)
  return steps.map((step) => resultOf(step, state.now()))
}

/** Finds the version of every entry, as if the entries before it had been applied. */
function plan({ versions, now }: MemoryState, entries: readonly WriteEntry[]): readonly Step[] {
  const planned = new Map<string, LastVersion>()
  const at = now().getTime()
  return entries.map((entry) => {
    const address = `${entry.type}/${entry.id}`
    const before = planned.get(address) ?? versions.get(address)
    check(entry, before)
    const after = versionAfter(entry, before, at)
    if (after !== undefined) planned.set(address, after)
    return { entry, before, after }
  })
}

function check(entry: WriteEntry, before: LastVersion | undefined): void {
  if (entry.op === 'put') checkLaidOut(entry)
  if (entry.ifVersion === undefined) return
  const current = before === undefined || before.deleted ? null : String(before.number)
  if (entry.ifVersion === current) return
  throw new OperationError('version-conflict', `The current version of ${entry.type}/${entry.id} is not the expected one.`)
}

function versionAfter(entry: WriteEntry, before: LastVersion | undefined, at: number): LastVersion | undefined {
  if (entry.op === 'delete' && (before === undefined || before.deleted)) return before
  return { number: (before?.number ?? 0) + 1, at: Math.max(at, before?.at ?? at), deleted: entry.op === 'delete' }
}

function apply({ tables, versions }: MemoryState, { entry, before, after }: Step): void {
  if (after === undefined || after === before) return
  versions.set(`${entry.type}/${entry.id}`, after)
  const table = tables.get(entry.type) ?? createResourceTable()
  tables.set(entry.type, table)
  if (entry.op === 'delete') table.delete(entry.id)
  else table.put({ stored: storedAs(entry, after), entries: entry.entries, updated: after.at })
}

function storedAs({ type, id, text }: PutEntry, { number, at }: LastVersion): StoredResource {
  return storedResource({ type, id, text, versionId: String(number), lastUpdated: instant(at) })
}

function resultOf({ entry, before, after }: Step, now: Date): WriteResult {
  const written = after !== before
  return {
    type: entry.type,
    id: entry.id,
    ...(after !== undefined && written && { versionId: String(after.number) }),
    lastUpdated: instant(after?.at ?? now.getTime()),
    created: entry.op === 'put' && (before === undefined || before.deleted),
  }
}

function instant(at: number): string {
  return new Date(at).toISOString()
}
