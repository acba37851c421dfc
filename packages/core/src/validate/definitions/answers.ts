import { LRUCache } from 'lru-cache'
import { createPace, type OperationContext } from '../../context/index.js'
import { PENDING, type Pending } from '../../fhirpath/index.js'
import type { Kept } from '../../content/index.js'
import type { JsonObject } from '../../json/index.js'
import type { SystemFamily } from '../../terminology/index.js'
import { after, type Awaitable } from '../../work/index.js'
import type { Profile } from '../run/element-rule.js'
import type { CodeList } from '../run/definitions.js'

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
interface FetchedStore<T> {
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

const NAME = 'validation'
/** Maximum number of answers of each kind, those that were used last. */
const KEPT = 1_000

/** Answers that validations share until a definition changes. A class, so that they can be recognised. */
class KeptAnswers {
  /** The place where the answers are kept; the terminology engine keeps its own there too. */
  readonly kept: Kept | undefined
  readonly profiles: FetchedStore<Profile | undefined>
  readonly definitions: FetchedStore<JsonObject | undefined>
  readonly maps: FetchedStore<readonly JsonObject[] | undefined>
  readonly kinds: FetchedStore<readonly string[]>
  readonly globals: FetchedStore<readonly string[]>
  readonly bases: FetchedStore<boolean>
  readonly oids: FetchedStore<readonly string[]>
  readonly valueSets: FetchedStore<CodeList | undefined>
  readonly codeSystems: FetchedStore<SystemFamily>

  constructor(place: Kept | undefined) {
    const store = <T>(): FetchedStore<T> => (place === undefined ? NOTHING : lastAnswers<T>())
    this.kept = place
    this.profiles = store()
    this.definitions = store()
    this.maps = store()
    this.kinds = store()
    this.globals = store()
    this.bases = store()
    this.oids = store()
    this.valueSets = lasting<CodeList | undefined>(store(), (list) => list?.lasts() !== false)
    this.codeSystems = lasting<SystemFamily>(store(), (family) => family.lasts())
  }
}

/** Creates the cache at the first answer, because it allocates its full size immediately and few validations ask for answers of every kind. */
function lastAnswers<T>(): FetchedStore<T> {
  let known: LRUCache<string, Fetched<T>> | undefined
  return {
    get: (key) => known?.get(key),
    set: (key, answer) => (known ??= new LRUCache<string, Fetched<T>>({ max: KEPT })).set(key, answer),
  }
}

/** For answers that only one validation can use; it remembers them itself. */
const NOTHING: FetchedStore<never> = { get: () => undefined, set: () => undefined }

/** Hides answers that no longer last: a code system that holds data of a single request, and value sets that use it, are looked up again. */
function lasting<T>(known: FetchedStore<T>, lasts: (answer: T) => boolean): FetchedStore<T> {
  return {
    get: (key) => {
      const found = known.get(key)
      return found !== undefined && lasts(found.answer) ? found : undefined
    },
    set: (key, answer) => known.set(key, answer),
  }
}

export type { KeptAnswers }

/** The answers kept for the present content; new on each call when changes of the content cannot be detected. */
export function keptAnswers({ content }: OperationContext): Awaitable<KeptAnswers> {
  return after(content.kept?.(), answersIn)
}

function answersIn(place: Kept | undefined): KeptAnswers {
  const known = place?.get(NAME)
  if (known instanceof KeptAnswers) return known
  const made = new KeptAnswers(place)
  place?.set(NAME, made)
  return made
}

/** The context for answers that outlive the request: without its signal, deadline, rights and explanation. */
export function lastingContext(ctx: OperationContext): OperationContext {
  return { ...ctx, signal: undefined, deadline: undefined, authorize: undefined, explain: undefined }
}
