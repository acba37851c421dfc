import { LRUCache } from 'lru-cache'
import type { Kept } from '../../content/index.js'
import type { OperationContext } from '../../context/index.js'
import type { JsonObject } from '../../json/index.js'
import type { SystemFamily } from '../../terminology/index.js'
import { after, type Awaitable } from '../../work/index.js'
import type { Profile } from '../run/element-rule.js'
import type { CodeList } from '../run/definitions.js'
import type { Fetched, FetchedStore } from './answers.js'

const NAME = 'validation'
/** Maximum number of answers of each kind, those that were used last. */
const KEPT = 1_000

/** Answers that validations share until a definition changes. A class, so that they can be recognised. */
class KeptAnswers {
  /** The place where the answers are kept; the terminology engine keeps its own there too. */
  readonly kept: Kept | undefined
  readonly profiles: FetchedStore<Profile | undefined>
  readonly definitions: FetchedStore<JsonObject | undefined>
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
