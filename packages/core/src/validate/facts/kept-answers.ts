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
  readonly profiles: AnswerStore<Profile | undefined> = new LRUCache<string, Answer<Profile | undefined>>({ max: MOST })
  readonly definitions: AnswerStore<JsonObject | undefined> = new LRUCache<string, Answer<JsonObject | undefined>>({ max: MOST })
  readonly globals: AnswerStore<readonly string[]> = new LRUCache<string, Answer<readonly string[]>>({ max: MOST })
  readonly valueSets: AnswerStore<CodeList | undefined> = lasting<CodeList | undefined>((list) => list?.lasts() !== false)
  readonly codeSystems: AnswerStore<SystemFamily> = lasting<SystemFamily>((family) => family.lasts())

  constructor(place: Kept | undefined) {
    this.place = place
  }
}

/** Code systems that become those of a single request, and what is made of them, are looked up again. */
function lasting<T>(lasts: (answer: T) => boolean): AnswerStore<T> {
  const known = new LRUCache<string, Answer<T>>({ max: MOST })
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
