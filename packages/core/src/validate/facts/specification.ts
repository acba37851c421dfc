import type { Cache, OperationContext } from '../../context/index.js'
import type { ContentView } from '../../content/index.js'
import type { CodeList } from './codes.js'
import type { Profile } from '../profile/element-rule.js'
import type { Shape } from '../structure/shape.js'

const KEY = 'validate specification'

/** What the urls of FHIR's own types begin with. */
export const TYPE_URL = 'http://hl7.org/fhir/StructureDefinition/'

/** What FHIR itself defines, and what therefore is looked up once for a view on content, not for every request. */
export interface Specification {
  /** By name of the type. */
  readonly types: Map<string, Profile>
  /** The value sets that FHIR's own types are bound to, by canonical. */
  readonly valueSets: Map<string, CodeList | undefined>
  /** By name of the type. */
  readonly shapes: Map<string, Shape>
}

/** What is known of FHIR's own types. That of the content below serves a request as well, unless it brings definitions of such types. */
export function baseTypesOf(ctx: OperationContext): Pick<Specification, 'types' | 'shapes'> {
  const { below } = ctx.content
  const brought = [...(below?.brought.get('StructureDefinition') ?? [])]
  return below === undefined || brought.some((url) => url.startsWith(TYPE_URL))
    ? specificationOf(ctx)
    : baseTypesOf({ ...ctx, content: below.view })
}

/** What is known so far of the specification as the context's content shows it. A request that brings definitions has a view of its own. */
export function specificationOf(ctx: OperationContext): Specification {
  const views = viewsIn(ctx.cache)
  const known = views.get(ctx.content)
  if (known !== undefined) return known
  const made = { types: new Map(), valueSets: new Map(), shapes: new Map() }
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
