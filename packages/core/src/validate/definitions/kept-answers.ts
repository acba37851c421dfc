import { LRUCache } from 'lru-cache'
import type { ContentView, Kept } from '../../content/index.js'
import type { Cache, OperationContext } from '../../context/index.js'
import type { JsonObject } from '../../json/index.js'
import type { SystemFamily } from '../../terminology/index.js'
import { after, type Awaitable } from '../../work/index.js'
import { TYPE_URL, type Profile } from '../run/element-rule.js'
import type { CodeList } from '../run/definitions.js'
import type { Plans, RuleBook } from '../run/run.js'
import type { Shape } from '../run/structure-shape.js'
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

const KEY = 'validate specification'

/** FHIR's own definitions, which are looked up once per view of the content, not for every request. */
export interface Specification {
  /** By name of the type. */
  readonly types: Map<string, Profile>
  /** The value sets that FHIR's own types are bound to, by canonical. */
  readonly valueSets: Map<string, CodeList | undefined>
  /** By name of the type. */
  readonly shapes: Map<string, Shape>
  /** Rule books, by the object of their settings. */
  readonly ruleBooks: WeakMap<object, PlannedRules>
}

/** A rule book with its plans for the types of the specification. */
export interface PlannedRules {
  readonly rules: RuleBook
  readonly plans: Plans
}

/** What is known of FHIR's own types. A request shares that of the content below, unless it supplies definitions of such types itself. */
export function baseTypesOf(ctx: OperationContext): Pick<Specification, 'types' | 'shapes' | 'ruleBooks'> {
  const { below } = ctx.content
  const fromRequest = [...(below?.fromRequest.get('StructureDefinition') ?? [])]
  return below === undefined || fromRequest.some((url) => url.startsWith(TYPE_URL))
    ? specificationOf(ctx)
    : baseTypesOf({ ...ctx, content: below.view })
}

/** What is known so far of the specification in the context's content. A request with definitions has a view of its own. */
export function specificationOf(ctx: OperationContext): Specification {
  const views = viewsIn(ctx.cache)
  const known = views.get(ctx.content)
  if (known !== undefined) return known
  const made: Specification = { types: new Map(), valueSets: new Map(), shapes: new Map(), ruleBooks: new WeakMap() }
  views.set(ctx.content, made)
  return made
}

function viewsIn(cache: Cache): Views {
  const found = cache.get(KEY)
  if (found instanceof Views) return found
  const made = new Views()
  cache.set(KEY, made, 1)
  return made
}

/** A class, so that the cache's content can be recognised. */
class Views extends WeakMap<ContentView, Specification> {}
