import { createPace, type OperationContext } from '../../context/index.js'
import { PENDING, type Pending } from '../../fhirpath/index.js'

/**
 * The questions of one validation that need fetching, such as definitions and membership in value sets. The walk over a resource is synchronous: a
 * question without an answer yet is noted and answered with `PENDING`, and after `settle` has fetched the answers, the walk is repeated.
 */
export interface Questions {
  /** Notes a question. False when too many are open, so that this one must wait for the next walk. */
  readonly note: (fetch: () => Promise<void>) => boolean
  /** Fetches the answers to all noted questions; `undefined` when there was none. */
  readonly settle: () => Promise<void> | undefined
}

/**
 * Maximum number of questions of one walk, to bound the lookups. A resource with thousands of missing definitions has more errors than are reported, so
 * the next walk ends there.
 */
const MAX_OPEN = 5_000
/** Number of questions answered together; other requests may run before the next ones. */
const TOGETHER = 100

/** Creates the questions of one validation. */
export function createQuestions(ctx: OperationContext): Questions {
  let open: (() => Promise<void>)[] = []
  return {
    note(fetch) {
      if (open.length >= MAX_OPEN) return false
      open.push(fetch)
      return true
    },
    settle() {
      if (open.length === 0) return undefined
      const noted = open
      open = []
      return fetchAll(ctx, noted)
    },
  }
}

async function fetchAll(ctx: OperationContext, noted: readonly (() => Promise<void>)[]): Promise<void> {
  const pace = createPace(ctx)
  for (let start = 0; start < noted.length; start += TOGETHER) {
    await pace.step()
    await Promise.all(noted.slice(start, start + TOGETHER).map((fetch) => fetch()))
  }
}

/** A fetched answer, which may be `undefined`. */
export interface Fetched<T> {
  readonly answer: T
}

/** Keeps answers beyond one validation. */
export interface FetchedStore<T> {
  get(key: string): Fetched<T> | undefined
  set(key: string, answer: Fetched<T>): unknown
}

/** Returns a function that answers by key. Each answer is fetched once. */
export function answers<T, K = string>(questions: Questions, load: (key: K) => Promise<T>): (key: K) => T | Pending {
  // Created at the first question, because most validations ask none.
  let known: Map<K, Fetched<T> | undefined> | undefined
  return (key) => {
    const found = known?.get(key)
    if (found !== undefined) return found.answer
    const table = (known ??= new Map())
    if (!table.has(key) && questions.note(async () => void table.set(key, { answer: await load(key) }))) table.set(key, undefined)
    return PENDING
  }
}

/** Like `answers`, but answers that an earlier validation stored are used too. */
export function keptOrFetched<T>(
  questions: Questions,
  store: FetchedStore<T>,
  load: (key: string) => Promise<T>,
): (key: string) => T | Pending {
  let known: Map<string, Fetched<T>> | undefined
  let fetched: ((key: string) => T | Pending) | undefined
  return (key) => {
    const before = known?.get(key)
    if (before !== undefined) return before.answer
    const found = store.get(key)
    if (found === undefined) return (fetched ??= answers(questions, (asked: string) => loadInto(store, asked, load)))(key)
    known ??= new Map()
    known.set(key, found)
    return found.answer
  }
}

async function loadInto<T>(store: FetchedStore<T>, key: string, load: (key: string) => Promise<T>): Promise<T> {
  const answer = await load(key)
  store.set(key, { answer })
  return answer
}
