import type { OperationContext } from '../../context/index.js'
import { isObject } from '../../json/index.js'
import type { HistoryItem, ResourceHistory } from '../../storage/index.js'

/** What the results of subjects were made of. */
export interface ReadTypes {
  /** Type of the subjects. */
  readonly subjectType: string
  /** Types of which a subject's results depend on what refers to it, before or after a change. */
  readonly types: readonly string[]
  /** Types of which every subject's results depend on every resource. */
  readonly common: readonly string[]
}

/** Whose results no longer hold. */
export interface TouchedSubjects {
  /** Their ids; some may not exist. `all` where everybody must be evaluated. */
  readonly subjects: ReadonlySet<string> | 'all'
  /** Says that the results are up to date, so that the next question begins where this one began. Left out when an evaluation failed. */
  readonly done: () => void
}

/** Reads what has changed in a storage from one evaluation to the next. */
export interface ChangeReader {
  /** Whose results may have changed since the last `done`; everybody's at first. */
  touched(read: ReadTypes): Promise<TouchedSubjects>
}

/** Up to where changes were read. */
interface Mark {
  /** Time of the last version that there is, in milliseconds since 1970. */
  readonly at: number
  /** When that was found to be the last, by `performance.now`. */
  readonly foundAt: number
  /** From when on versions are looked for the next time. */
  readonly since: number
  /** The versions from then on that were read. */
  readonly seen: ReadonlySet<string>
}

/** More versions than these are not gone through: everybody is evaluated. */
const MAX_VERSIONS = 50_000
const PAGE = 1_000

/**
 * Makes a reader of the versions that a storage keeps. Without history it answers `all` each time.
 *
 * @param settlingMs How long before the last version others are looked for again, in milliseconds: a write is seen some time after its own time, and
 *   clocks of several processes differ. While nothing is written, the clock of the storage continues.
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
  /** When it began. */
  readonly asked: number
  /** `undefined` where they were too many. */
  readonly versions: readonly HistoryItem[] | undefined
  readonly before: Mark | undefined
}

/** The clock of the storage continues while nothing is written: what a reading does not see has the time of its beginning, or one shortly before. */
function markOf({ at, asked, versions = [], before }: Reading, settlingMs: number): Mark {
  const foundAt = before?.at === at ? before.foundAt : performance.now()
  const since = at + Math.floor(Math.max(0, asked - foundAt)) - settlingMs
  return { at, foundAt, since, seen: new Set(versions.filter((version) => timeOf(version) >= since).map(keyOf)) }
}

/** 0 where nothing was written yet. */
async function lastTime(history: ResourceHistory, types: readonly string[]): Promise<number> {
  const [last] = (await history.page({ types, limit: 1 })).items
  return last === undefined ? 0 : timeOf(last)
}

/** `undefined` where there are too many. */
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

/** Whom changes concern: who was referred to before, after, or in between. */
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

/** Adds the ids of all resources of a type that are referred to anywhere within. */
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
