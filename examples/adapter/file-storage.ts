import { readFile, rename, writeFile } from 'node:fs/promises'
import { OperationError } from 'fhir-ops/errors'
import {
  checkEntries,
  checkLaidOut,
  checkQuery,
  checkRead,
  comparePositions,
  storedResource,
  versionNumber,
  type Comparison,
  type Condition,
  type IndexEntry,
  type SearchQuery,
  type SortKey,
  type SortPosition,
  type Storage,
  type WriteEntry,
  type WriteResult,
} from 'fhir-ops/storage'

/** A resource as it is kept. A deleted one keeps its number, without text. */
interface Row {
  readonly type: string
  readonly id: string
  readonly versionId: string
  readonly lastUpdated: string
  readonly text?: string
  readonly entries: readonly IndexEntry[]
}

type Rows = ReadonlyMap<string, Row>

/** A storage of one process in one JSON file, which is read at the start and replaced by each write. For some thousand resources. */
export async function openFileStorage(path: string, { now = () => new Date() }: { now?: () => Date } = {}): Promise<Storage> {
  let rows: Rows = new Map((await rowsIn(path)).map((row) => [addressOf(row), row]))
  let isClosed = false
  let last: Promise<unknown> = Promise.resolve()
  const open = (): Rows => {
    if (isClosed) throw new OperationError('storage-unavailable', 'The storage is closed.')
    return rows
  }
  const applyAll = async (entries: readonly WriteEntry[]): Promise<readonly WriteResult[]> => {
    const next = new Map(open())
    const results = entries.map((entry) => apply(next, entry, now()))
    await replaceFile(path, [...next.values()])
    rows = next
    return results
  }
  return {
    capabilities: { atomic: true, counts: true, preconditions: true, sorts: true },
    async read(type, id) {
      checkRead(type, id)
      const row = open().get(addressOf({ type, id }))
      return row && storedOf(row)
    },
    async search(query) {
      checkQuery(query)
      const { sort = [], limit = 100, maxBytes = 8_000_000 } = query
      const after = query.after === undefined ? undefined : positionIn(query.after)
      const found = matchesOf(open(), query)
        .map((row) => ({ row, position: positionOf(row, sort) }))
        .filter(({ position }) => after === undefined || comparePositions(position, after, sort) > 0)
        .toSorted((a, b) => comparePositions(a.position, b.position, sort))
      let length = 0
      const page = found.slice(0, limit).filter(({ row }) => {
        const isIn = length <= maxBytes
        if (isIn) length += row.text?.length ?? 0
        return isIn
      })
      const lastItem = page.at(-1)
      const hasMore = lastItem !== undefined && page.length < found.length
      return { items: page.flatMap(({ row }) => storedOf(row) ?? []), ...(hasMore && { next: JSON.stringify(lastItem.position) }) }
    },
    async count(query) {
      checkQuery(query)
      return matchesOf(open(), query).length
    },
    async write(entries) {
      checkEntries(entries)
      for (const entry of entries) checkLaidOut(entry)
      const written = last.then(() => applyAll(entries))
      last = written.catch(() => {})
      return written
    },
    async close() {
      await last
      isClosed = true
    },
  }
}

function addressOf({ type, id }: { type: string; id: string }): string {
  return `${type}/${id}`
}

function storedOf({ text, ...row }: Row) {
  return text === undefined ? undefined : storedResource({ ...row, text })
}

/** Applies one entry to the rows. Numbers rise across deletions, and the time of a resource never goes back. */
function apply(rows: Map<string, Row>, entry: WriteEntry, now: Date): WriteResult {
  const { type, id } = entry
  const before = rows.get(addressOf(entry))
  const current = before?.text === undefined ? undefined : before
  if (entry.ifVersion !== undefined && entry.ifVersion !== (current?.versionId ?? null))
    throw new OperationError('version-conflict', `${type}/${id} has another version.`)
  const time = now.toISOString()
  const lastUpdated = before !== undefined && before.lastUpdated > time ? before.lastUpdated : time
  const created = current === undefined
  if (entry.op === 'delete' && created) return { type, id, lastUpdated, created: false }
  const versionId = String((before === undefined ? 0 : (versionNumber(before.versionId) ?? 0)) + 1)
  const content = entry.op === 'put' ? { text: entry.text, entries: entry.entries } : { entries: [] }
  rows.set(addressOf(entry), { type, id, versionId, lastUpdated, ...content })
  return { type, id, versionId, lastUpdated, created }
}

function matchesOf(rows: Rows, { type, where }: Pick<SearchQuery, 'type' | 'where'>): readonly Row[] {
  return [...rows.values()].filter((row) => row.type === type && row.text !== undefined && holds(rows, row, where))
}

function holds(rows: Rows, row: Row, condition: Condition): boolean {
  switch (condition.kind) {
    case 'and':
      return condition.conditions.every((one) => holds(rows, row, one))
    case 'or':
      return condition.conditions.some((one) => holds(rows, row, one))
    case 'not':
      return !holds(rows, row, condition.condition)
    case 'id':
      return condition.ids.includes(row.id)
    case 'lastUpdated': {
      const time = Date.parse(row.lastUpdated)
      return time >= (condition.from ?? -Infinity) && time <= (condition.to ?? Infinity)
    }
    case 'entry':
      return row.entries.some((entry) => entry.param === condition.param && condition.all.every((one) => isTrue(entry, one)))
    case 'refersTo':
      return matchesOf(rows, condition.query).some((target) => refers(row, condition.param, target))
    case 'referredBy':
      return matchesOf(rows, condition.query).some((source) => refers(source, condition.param, row))
  }
}

function refers(from: Row, param: string, to: Row): boolean {
  return from.entries.some((entry) => entry.param === param && entry.system === to.type && entry.value === to.id)
}

function isTrue(entry: IndexEntry, comparison: Comparison): boolean {
  const found = entry[comparison.field]
  if (comparison.op === 'absent') return found === undefined
  if (found === undefined) return false
  if (comparison.op === 'in') return comparison.operands.some((operand) => operand === found)
  const { op, operand } = comparison
  if (op === 'eq') return found === operand
  if (typeof found === 'string')
    return op === 'prefix' ? found.startsWith(`${operand}`) : op === 'suffix' ? found.endsWith(`${operand}`) : found.includes(`${operand}`)
  const order = found - Number(operand)
  return op === 'lt' ? order < 0 : op === 'le' ? order <= 0 : op === 'gt' ? order > 0 : order >= 0
}

function positionOf(row: Row, sort: readonly SortKey[]): SortPosition {
  return { keys: sort.map((key) => keyOf(row, key)), id: row.id }
}

/** Of several values the smallest, in descending order the largest, as `comparePositions` orders them. */
function keyOf(row: Row, key: SortKey): string | number | undefined {
  const { param, field } = key
  if (field === 'id' || field === 'lastUpdated') return row[field]
  const values = row.entries.flatMap((entry) => (entry.param === param ? (entry[field] ?? []) : []))
  const [first] = values.map((value) => ({ keys: [value], id: '' })).toSorted((a, b) => comparePositions(a, b, [key]))
  return first?.keys[0]
}

function positionIn(cursor: string): SortPosition {
  try {
    const { keys, id } = JSON.parse(cursor)
    // JSON has null for what is absent.
    return checked({ keys: keys.map((key: string | number | null) => key ?? undefined), id })
  } catch (cause) {
    throw new OperationError('search-invalid', 'The cursor is not one of this storage.', { cause })
  }
}

function checked(position: SortPosition): SortPosition {
  if (typeof position.id !== 'string') throw new TypeError('A position has an id.')
  return position
}

async function rowsIn(path: string): Promise<readonly Row[]> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return []
    throw new OperationError('storage-damaged', `${path} cannot be read.`, { cause })
  }
}

async function replaceFile(path: string, rows: readonly Row[]): Promise<void> {
  try {
    await writeFile(`${path}.new`, JSON.stringify(rows), { flush: true })
    await rename(`${path}.new`, path)
  } catch (cause) {
    const isFull = cause instanceof Error && 'code' in cause && cause.code === 'ENOSPC'
    throw new OperationError(isFull ? 'storage-full' : 'storage-unavailable', 'The file of the storage cannot be written.', { cause })
  }
}
