import { definitionEntries } from '../content/index.js'
import { OperationError, quoted } from '../errors/index.js'
import {
  checkArgument,
  checkOptions,
  CLOCK,
  FLAG,
  FUNCTION,
  inputShape,
  ITERABLE,
  type InputShape,
  type MemberKind,
} from '../input/index.js'
import { isObject, stringAt, type JsonObject } from '../json/index.js'
import {
  checkEntries,
  checkOnlyMatch,
  checkQuery,
  checkRead,
  checkScan,
  conditionalPuts,
  putResource,
  type Capabilities,
  type ConditionalPut,
  type Indexer,
  type SearchPage,
  type SearchQuery,
  type Storage,
  type ReadResult,
  isDefinitionEntry,
  type Condition,
  type ScanQuery,
  MATCHES_OF_PUT,
  scanItemTooLong,
  SCAN_ITEM_BYTES,
  SCAN_PAGE_BYTES,
  storedResource,
  type Referring,
  type ScanItem,
  type ScanPage,
  type StoredResource,
  type WriteEntry,
  type WriteResult,
} from '../storage/index.js'
import { countBits, createNumbers } from '../bits/index.js'
import { createScheduler, paced } from '../context/index.js'
import type { Work } from '../work/index.js'
import { createVersionLog, historyOf } from './history.js'
import { followed, matchingRows, linksOf, findMatches, pageOf, pageMadeOf, type PageItem } from './matches.js'
import type { ResourceTable, Row } from './resource-table.js'
import { createChangeLog, applyWrites, type MemoryState } from './write.js'

/** Options of `memoryStorage`. */
export interface MemoryStorageOptions {
  /**
   * Indexes the given resources, for example the indexer of `r4()`. Default: definitions are indexed by their url, and searches for given resources by
   * anything but id and time are refused. Later writes bring their own entries.
   */
  readonly indexer?: Indexer
  /** The clock of `lastUpdated`. */
  readonly now?: () => Date
  /** Whether replaced and deleted versions are kept, which takes memory. Default true; with false there is no `history`. */
  readonly history?: boolean
}

const SHAPE: InputShape = inputShape<MemoryStorageOptions>({ indexer: FUNCTION, now: CLOCK, history: FLAG })

const OF_BUNDLE = 'bundle.entry.map(({ resource }) => resource)'
const RESOURCES: MemberKind = { words: `a list of resources; those of a Bundle are ${OF_BUNDLE}`, is: ITERABLE.is }

const CAPABILITIES: Capabilities = {
  atomic: true,
  counts: true,
  preconditions: true,
  sorts: true,
  contained: true,
  conditionalWrites: true,
}

/**
 * Creates a storage that keeps resources in memory, for as long as the process runs: for tests, and for content that is loaded at start. Each call sees the
 * effects of all earlier ones. Reads and writes never wait; the first search of a kind over many resources builds what it needs while other work runs.
 *
 * @param resources Its first content; each needs a `resourceType` and an `id`.
 * @throws {TypeError} when the resources are not a list, and for an option that is unknown or of another type.
 * @throws {OperationError} `resource-invalid` when one of the resources cannot be stored.
 */
export function memoryStorage(resources: Iterable<object> = [], options: MemoryStorageOptions = {}): Storage {
  checkArgument('memoryStorage: resources', resources, RESOURCES)
  checkOptions('memoryStorage', SHAPE, options)
  const { now = () => new Date(), history = true } = options
  const log = history ? createVersionLog() : undefined
  const state: MemoryState = { tables: new Map(), versions: new Map(), log, now, changes: createChangeLog(), writes: 0 }
  const indexer = options.indexer ?? definitionEntries
  const unindexed = new Set<string>()
  for (const resource of resources) {
    const put = putResource(addressed(resource, state.writes), indexer)
    applyWrites(state, [put])
    if (options.indexer === undefined) unindexed.add(put.type)
  }
  const scan = createScan()
  const run = { scheduler: createScheduler() }
  let closed = false
  const open = (): MemoryState => {
    if (closed) throw new OperationError('storage-unavailable', 'The storage is closed.')
    return state
  }
  return {
    capabilities: CAPABILITIES,
    ...(log !== undefined && { history: historyOf(() => ({ log, versions: open().versions })) }),
    async read(type, id): Promise<ReadResult> {
      checkRead(type, id)
      return readRow(open().tables.get(type), id)
    },
    async search(query) {
      checkQuery(query)
      checkIndexed(query, unindexed)
      return paced(run, search(open(), query))
    },
    async scan(query) {
      checkScan(query)
      checkIndexed(query, unindexed)
      return paced(run, scan(open(), query))
    },
    async count(query) {
      checkQuery(query)
      checkIndexed(query, unindexed)
      return paced(run, count(open(), query))
    },
    async write(entries) {
      checkEntries(entries, CAPABILITIES)
      const conditions = conditionalPuts(entries)
      if (conditions.length === 0) return applyWrites(open(), entries)
      for (const { type, where } of conditions) checkIndexed({ type, where }, unindexed)
      return paced(run, writeIfOnlyMatch(open(), entries, conditions))
    },
    revision: () => open().writes,
    changes: async (since) => open().changes.since(since),
    close: async () => {
      closed = true
    },
  }
}

/** @throws {OperationError} `resource-invalid` for a resource without type or id, with its index in the list. */
function addressed(given: unknown, index: number): { readonly type: string; readonly id: string; readonly source: JsonObject } {
  const resource = isObject(given) ? given : {}
  const [type, id] = [stringAt(resource, 'resourceType'), stringAt(resource, 'id')]
  if (type !== undefined && id !== undefined) return { type, id, source: resource }
  throw new OperationError('resource-invalid', `memoryStorage: resources[${index}] ${problemOf(given)}.`)
}

function problemOf(given: unknown): string {
  if (!isObject(given)) return 'is not an object; JSON.parse makes one of a text'
  if ('then' in given) return 'is a promise that was not awaited'
  const { resourceType: type, id } = given
  if (type === undefined && isObject(given['resource'])) return `is an entry of a Bundle, not its resource: pass ${OF_BUNDLE}`
  if (type === 'Bundle' && id === undefined) return `is a Bundle without id. To store the resources in it, pass ${OF_BUNDLE}`
  const member = typeof type === 'string' ? 'id' : 'resourceType'
  return given[member] === undefined ? `has no ${member}` : `has something else than a text as ${member}`
}

function readRow(table: ResourceTable | undefined, id: string): ReadResult {
  const number = table?.find(id)
  return number === undefined ? undefined : table?.row(number)?.stored
}

function* search(state: MemoryState, query: SearchQuery): Work<SearchPage> {
  checkQuery(query)
  const matches = yield* findMatches(state.tables, query)
  if (matches === undefined) return { items: [] }
  const page = pageOf(matches, query)
  return { ...page, items: page.items.map(({ stored }) => stored) }
}

/** Checks the conditions until nothing is written while they are checked, and then writes. */
function* writeIfOnlyMatch(
  state: MemoryState,
  entries: readonly WriteEntry[],
  conditions: readonly ConditionalPut[],
): Work<readonly WriteResult[]> {
  for (;;) {
    const { writes } = state
    for (const put of conditions) {
      const { items } = yield* search(state, { type: put.type, where: put.where, limit: MATCHES_OF_PUT })
      checkOnlyMatch(put, { matches: items.map(({ id }) => id), isCurrent: readRow(state.tables.get(put.type), put.id) !== undefined })
    }
    if (state.writes === writes) return applyWrites(state, entries)
  }
}

function* count({ tables }: MemoryState, query: SearchQuery): Work<number> {
  yield* followed(tables, query)
  return countBits(matchingRows(tables, query) ?? new Uint32Array())
}

/**
 * Checks that resources which were given without an indexer are not searched by parameters for which they have no entries: such a search would silently
 * find none of them.
 *
 * @param unindexed Types of these resources.
 * @throws {OperationError} `search-unsupported` naming the parameter.
 */
function checkIndexed(query: SearchQuery | ScanQuery, unindexed: ReadonlySet<string>): void {
  if (unindexed.size === 0) return
  checkQueryOf(query, unindexed)
  for (const { type, where, params } of 'referring' in query ? (query.referring ?? []) : []) {
    for (const param of params) checkParam(param, type, unindexed)
    checkCondition(where, type, unindexed)
  }
}

function checkQueryOf({ type, where, sort = [] }: SearchQuery, unindexed: ReadonlySet<string>): void {
  for (const { field, param } of sort) if (field !== 'lastUpdated' && field !== 'id') checkParam(param, type, unindexed)
  checkCondition(where, type, unindexed)
}

function checkCondition(condition: Condition, type: string, unindexed: ReadonlySet<string>): void {
  switch (condition.kind) {
    case 'and':
    case 'or':
      for (const part of condition.conditions) checkCondition(part, type, unindexed)
      return
    case 'not':
      return checkCondition(condition.condition, type, unindexed)
    case 'entry':
      return checkParam(condition.param, type, unindexed)
    case 'refersTo':
      checkParam(condition.param, type, unindexed)
      return checkQueryOf(condition.query, unindexed)
    case 'referredBy':
      checkParam(condition.param, condition.query.type, unindexed)
      return checkQueryOf(condition.query, unindexed)
    case 'id':
    case 'lastUpdated':
      return
  }
}

function checkParam(param: string, type: string, unindexed: ReadonlySet<string>): void {
  if (!unindexed.has(type) || isDefinitionEntry({ param })) return
  const text = `The resources of type ${type} that memoryStorage was given are not indexed by ${quoted(param)}: give it an indexer too, for example that of r4().`
  throw new OperationError('search-unsupported', text)
}

/** Maximum number of rows of a page, so high that pages end by their bytes. */
const SCAN_PAGE = 10_000

/**
 * Returns pages of scans, in the order of ids. The resources that refer to the population are found once for all pages with the same `referring`, as within
 * one scan, and again after a write.
 */
function createScan(): (state: MemoryState, query: ScanQuery) => Work<ScanPage> {
  const found = new WeakMap<readonly Referring[], Found>()
  const referrersOf = (state: MemoryState, type: string, referring: readonly Referring[]): readonly Referrers[] => {
    const known = found.get(referring)
    if (known?.type === type && known.writes === state.writes) return known.referrers
    const referrers = referring.flatMap((one) => findReferrers(state, type, one) ?? [])
    found.set(referring, { type, writes: state.writes, referrers })
    return referrers
  }
  return function* scan(state, { referring = [], limit = SCAN_PAGE, maxBytes = SCAN_PAGE_BYTES, ...query }) {
    for (const { params, ...from } of referring) {
      yield* followed(state.tables, from)
      for (const param of params) yield* linksOf(state.tables, { from: from.type, param, to: query.type })?.catchUp() ?? []
    }
    const matches = yield* findMatches(state.tables, { ...query, limit })
    if (matches === undefined) return { items: [] }
    const referrers = referrersOf(state, query.type, referring)
    return pageMadeOf(matches, { ...query, limit, maxBytes, itemOf: (row, number) => itemOf(row, number, referrers) })
  }
}

interface Found {
  /** The type that is referred to. */
  readonly type: string
  /** `writes` of the state when they were found. */
  readonly writes: number
  readonly referrers: readonly Referrers[]
}

/** The rows of a table that refer to each row of the population. */
interface Referrers {
  readonly table: ResourceTable
  /** The index in `sources` at which those of each row begin; they end at the index of the next row. */
  readonly starts: Uint32Array
  /** A row occurs twice if it refers by two parameters. */
  readonly sources: Uint32Array
}

function findReferrers({ tables }: MemoryState, type: string, { params, ...query }: Referring): Referrers | undefined {
  const [table, targets] = [tables.get(query.type), tables.get(type)]
  const rows = matchingRows(tables, query)
  if (table === undefined || targets === undefined || rows === undefined) return undefined
  const [from, to] = [createNumbers(), createNumbers()]
  for (const param of params)
    linksOf(tables, { from: query.type, param, to: type })?.visit(rows, (source, target) => {
      from.push(source)
      to.push(target)
    })
  const starts = new Uint32Array(targets.size() + 1)
  for (let link = 0; link < to.length(); link++) add(starts, to.at(link) + 1, 1)
  for (let target = 1; target < starts.length; target++) add(starts, target, starts[target - 1] ?? 0)
  const sources = new Uint32Array(from.length())
  const ends = starts.slice()
  for (let link = 0; link < to.length(); link++) {
    sources[ends[to.at(link)] ?? 0] = from.at(link)
    add(ends, to.at(link), 1)
  }
  return { table, starts, sources }
}

function add(numbers: Uint32Array, at: number, number: number): void {
  numbers[at] = (numbers[at] ?? 0) + number
}

function itemOf(row: Row, number: number, referrers: readonly Referrers[]): PageItem<ScanItem> {
  const referring = new Set<Row>()
  let bytes = row.length
  for (const { table, starts, sources } of referrers) {
    for (const source of sources.subarray(starts[number], starts[number + 1])) {
      const found = table.row(source)
      if (found === undefined || referring.has(found)) continue
      referring.add(found)
      bytes += found.length
      if (bytes > SCAN_ITEM_BYTES) throw scanItemTooLong(row.stored)
    }
  }
  return { item: { stored: fresh(row), referring: Array.from(referring, fresh) }, bytes }
}

/** Parsed content is not kept with the row, because a scan would leave that of a whole population in memory. */
function fresh({ stored }: Row): StoredResource {
  const { type, id, versionId, lastUpdated } = stored
  return storedResource({ type, id, versionId, lastUpdated, text: '' }, () => stored.text)
}
