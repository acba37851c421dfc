import { LRUCache } from 'lru-cache'
import type { Kept } from '../../content/index.js'
import type { OperationContext } from '../../context/index.js'
import type { JsonObject } from '../../json/index.js'
import type { SystemFamily } from '../../terminology/index.js'
import type { Profile } from '../profile/element-rule.js'
import type { CodeList } from './codes.js'
import type { Answer, AnswerStore } from './questions.js'

const NAME = 'validation'
const MOST = 1_000

/** Answers that hold for one validation after another for as long as no definition changes. A class, so that they can be recognised. */
class KeptAnswers {
  /** Where they are kept, beside what the terminology engine keeps. */
  readonly place: Kept | undefined
  readonly profiles: AnswerStore<Profile | undefined>
  readonly definitions: AnswerStore<JsonObject | undefined>
  readonly globals: AnswerStore<readonly string[]>
  readonly valueSets: AnswerStore<CodeList | undefined>
  readonly codeSystems: AnswerStore<SystemFamily>

  constructor(place: Kept | undefined) {
    const store = <T>(): AnswerStore<T> => (place === undefined ? NOTHING : new LRUCache<string, Answer<T>>({ max: MOST }))
    this.place = place
    this.profiles = store()
    this.definitions = store()
    this.globals = store()
    this.valueSets = lasting<CodeList | undefined>(store(), (list) => list?.lasts() !== false)
    this.codeSystems = lasting<SystemFamily>(store(), (family) => family.lasts())
  }
}

/** For answers that are of one validation only, which knows them itself. */
const NOTHING: AnswerStore<never> = { get: () => undefined, set: () => undefined }

/** Code systems that become those of a single request, and what is made of them, are looked up again. */
function lasting<T>(known: AnswerStore<T>, lasts: (answer: T) => boolean): AnswerStore<T> {
  return {
    get: (key) => {
      const found = known.get(key)
      return found !== undefined && lasts(found.answer) ? found : undefined
    },
    set: (key, answer) => known.set(key, answer),
  }
}

export type { KeptAnswers }

/** What is known of the content as it is now; new, and kept by nobody, where changes of content cannot be told. */
export async function keptAnswers({ content }: OperationContext): Promise<KeptAnswers> {
  const place = await content.kept?.()
  const known = place?.get(NAME)
  if (known instanceof KeptAnswers) return known
  const made = new KeptAnswers(place)
  place?.set(NAME, made)
  return made
}

/** The context for what outlives the request: without the request's end, rights and explanation. */
export function lastingContext(ctx: OperationContext): OperationContext {
  return { ...ctx, signal: undefined, deadline: undefined, authorize: undefined, explain: undefined }
}
