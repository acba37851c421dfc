import type { OperationContext } from '../../context/index.js'
import { isObject } from '../../json/index.js'
import type { HistoryItem, ResourceHistory } from '../../storage/index.js'

/** The types that the results of subjects were computed from. */
export interface ReadTypes {
  /** The type of the subjects. */
  readonly subjectType: string
  /** Types of resources that affect the results of the subjects they refer to, before or after a change. */
  readonly types: readonly string[]
  /** Types of resources that affect the results of every subject. */
  readonly common: readonly string[]
}

/** The subjects whose results are no longer valid. */
export interface TouchedSubjects {
  /** Their ids; some may not exist. `all` when every subject must be evaluated. */
  readonly subjects: ReadonlySet<string> | 'all'
  /** Marks the results as up to date, so that the next call starts where this one started. Not called when an evaluation failed. */
  readonly done: () => void
}

/** Reads what has changed in a storage since the previous evaluation. */
export interface ChangeReader {
  /** The subjects whose results may have changed since the last `done`; all at first. */
  touched(read: ReadTypes): Promise<TouchedSubjects>
}

/** The point up to which changes were read. */
interface Mark {
  /** Time of the last version, in milliseconds since 1970. */
  readonly at: number
  /** When this was found to be the last one, by `performance.now`. */
  readonly foundAt: number
  /** The time from which versions are read the next time. */
  readonly since: number
  /** The versions from that time on that were already read. */
  readonly seen: ReadonlySet<string>
}

/** Maximum number of versions that are read. If there are more, all subjects are evaluated. */
const MAX_VERSIONS = 50_000
const PAGE = 1_000

/**
 * Creates a reader of the versions that a storage keeps. Without history it always answers `all`.
 *
 * @param settlingMs How long before the last version further ones are looked for again, in milliseconds: a write becomes visible some time after its own
 *   time, and the clocks of processes differ. While nothing is written, the clock of the storage is assumed to continue.
 */
export function createChangeReader({ storage }: Pick<OperationContext, 'storage'>, settlingMs: number): ChangeReader {
  const { history } = storage
  let mark: Mark | undefined
  return {
    async touched(read) {
      if (history === undefined) return { subjects: 'all', done: () => {} }
      const types = [...new Set([...read.common, ...read.types, read.subjectType])]
      const before = mark
      const asked = performance.now()
      const since = before?.since ?? (await lastTime(history, types)) - settlingMs
      const versions = await versionsSince(history, types, since)
      const at = Math.max(
        versions?.reduce((last, one) => Math.max(last, timeOf(one)), 0) ?? (await lastTime(history, types)),
        before?.at ?? 0,
      )
      const done = (): void => {
        mark = markOf({ at, asked, versions, before }, settlingMs)
      }
      if (before === undefined || versions === undefined) return { subjects: 'all', done }
      const changed = versions.filter((version) => !before.seen.has(keyOf(version)))
      return { subjects: await subjectsOf(history, changed, read), done }
    },
  }
}

interface Reading extends Pick<Mark, 'at'> {
  /** When the reading began. */
  readonly asked: number
  /** `undefined` when there were too many. */
  readonly versions: readonly HistoryItem[] | undefined
  readonly before: Mark | undefined
}

/**
 * While nothing is written, the clock of the storage continues: a version that a reading does not see has at least the time at which the reading began,
 * or one shortly before.
 */
function markOf({ at, asked, versions = [], before }: Reading, settlingMs: number): Mark {
  const foundAt = before?.at === at ? before.foundAt : performance.now()
  const since = at + Math.floor(Math.max(0, asked - foundAt)) - settlingMs
  return { at, foundAt, since, seen: new Set(versions.filter((version) => timeOf(version) >= since).map(keyOf)) }
}

/** The time of the last version; 0 when nothing was written yet. */
async function lastTime(history: ResourceHistory, types: readonly string[]): Promise<number> {
  const [last] = (await history.page({ types, limit: 1 })).items
  return last === undefined ? 0 : timeOf(last)
}

/** The versions since a time; `undefined` when there are too many. */
async function versionsSince(
  history: ResourceHistory,
  types: readonly string[],
  since: number,
): Promise<readonly HistoryItem[] | undefined> {
  const versions: HistoryItem[] = []
  let after: string | undefined
  do {
    const page = await history.page({ types, since, limit: PAGE, ...(after !== undefined && { after }) })
    versions.push(...page.items)
    if (versions.length > MAX_VERSIONS) return undefined
    after = page.next
  } while (after !== undefined)
  return versions
}

/** The subjects that changes affect: those referred to before, after, or in between. */
async function subjectsOf(
  history: ResourceHistory,
  changed: readonly HistoryItem[],
  read: ReadTypes,
): Promise<ReadonlySet<string> | 'all'> {
  const forAll = new Set(read.common)
  if (changed.some(({ type }) => forAll.has(type))) return 'all'
  const found = new Set<string>()
  const before = new Map<string, HistoryItem>()
  for (const version of changed) {
    if (version.type === read.subjectType) found.add(version.id)
    if (version.stored !== undefined) addReferences(version.stored.resource, read.subjectType, found)
    const address = `${version.type}/${version.id}`
    const earliest = before.get(address)
    if (earliest === undefined || Number(version.versionId) < Number(earliest.versionId)) before.set(address, version)
  }
  for (const { type, id, versionId } of before.values()) {
    if (versionId === '1') continue
    const replaced = await history.version(type, id, String(Number(versionId) - 1))
    if (replaced === undefined) return 'all'
    if (replaced.stored !== undefined) addReferences(replaced.stored.resource, read.subjectType, found)
  }
  return found
}

const TARGET = /(?:^|\/)([A-Z]\w{0,63})\/([A-Za-z0-9\-.]{1,64})(?:\/_history\/[^/]{1,64})?$/

/** Adds the ids of all resources of a type to which references anywhere in the JSON lead. */
export function addReferences(json: unknown, type: string, found: Set<string>): void {
  const open: unknown[] = [json]
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (Array.isArray(value)) open.push(...value.filter((item) => item !== undefined))
    if (!isObject(value)) continue
    const { reference } = value
    const [, ofType, id] = (typeof reference === 'string' && reference.length <= 2_000 ? TARGET.exec(reference) : null) ?? []
    if (ofType === type && id !== undefined) found.add(id)
    for (const member of Object.values(value)) if (typeof member === 'object' && member !== null) open.push(member)
  }
}

function timeOf({ lastUpdated }: HistoryItem): number {
  return Date.parse(lastUpdated)
}

function keyOf({ type, id, versionId }: HistoryItem): string {
  return `${type}/${id}/${versionId}`
}
