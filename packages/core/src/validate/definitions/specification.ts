import type { ContentView } from '../../content/index.js'
import type { Cache, OperationContext } from '../../context/index.js'
import { TYPE_URL, type Profile } from '../run/element-rule.js'
import type { CodeList } from '../run/definitions.js'
import type { Plans, RuleBook, Shape } from '../run/run.js'

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
