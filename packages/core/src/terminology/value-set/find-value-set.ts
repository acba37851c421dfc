import { canonicalOf, formatCanonical, newestOf, type Definition } from '../../content/index.js'
import type { OperationContext } from '../../context/index.js'
import { objectsAt, stringAt, type JsonObject } from '../../json/index.js'
import { implicitDefinition, refuseUnopened } from '../code-system/imported-releases.js'
import { bestVersion } from '../versions.js'

const WHOLE = '?fhir_vs'

/**
 * Finds the value set with this canonical: an implicit one of a code system, a ValueSet resource, or the value set of all codes of a CodeSystem, whose
 * canonical is `CodeSystem.valueSet` or `<url>?fhir_vs`. A fragment (`url#x`) means the contained value set `x` of the ValueSet with this url.
 *
 * @param version Used when the canonical has none.
 * @returns `undefined` when there is none. Without any version, the newest is returned.
 * @throws {OperationError} `not-supported` when an imported code system that no code system of the context can open may define it.
 */
export async function findValueSet(ctx: OperationContext, canonical: string, version?: string): Promise<Definition | undefined> {
  const { url, version: named = version, fragment } = canonicalOf(canonical)
  const implicit = await implicitDefinition(ctx, 'ValueSet', canonical)
  // An expression in the url may contain a number sign.
  if (implicit !== undefined && (fragment === undefined || implicit.url === canonical)) return implicit
  if (fragment !== undefined) return containedIn(await findValueSet(ctx, formatCanonical(url, named)), fragment)
  const found = await ctx.content.find('ValueSet', 'url', url)
  if (found.length > 0) return named === undefined ? newestOf(found) : bestVersion(found, named)
  const systems = url.endsWith(WHOLE)
    ? await ctx.content.find('CodeSystem', 'url', url.slice(0, -WHOLE.length))
    : await ctx.content.find('CodeSystem', 'value-set', url)
  const system = named === undefined ? newestOf(systems) : bestVersion(systems, named)
  if (system !== undefined) return allCodesOf(system, url)
  await refuseUnopened(ctx, canonical)
  return undefined
}

/** Returns a contained value set, together with the other contained resources, to which it may refer. */
function containedIn(container: Definition | undefined, id: string): Definition | undefined {
  const contained = container && containedValueSet(container.resource, id)
  if (container === undefined || contained === undefined) return undefined
  const { url, key, id: _ofContainer, ...others } = container
  const resource = { ...contained, contained: container.resource['contained'] }
  return { ...others, url: `${url}#${id}`, resource, ...(key !== undefined && { key: `${key}#${id}` }), parsing: undefined }
}

/** Finds the contained value set with this id. */
export function containedValueSet(resource: JsonObject, id: string): JsonObject | undefined {
  return objectsAt(resource, 'contained').find((item) => item['resourceType'] === 'ValueSet' && stringAt(item, 'id') === id)
}

/** Creates the value set of all codes of a CodeSystem. @see https://hl7.org/fhir/R4/codesystem-definitions.html#CodeSystem.valueSet */
function allCodesOf(system: Definition, url: string): Definition {
  const include = { system: system.url, ...(system.version !== undefined && { version: system.version }) }
  const resource = {
    resourceType: 'ValueSet',
    url,
    status: system.status,
    ...(system.version !== undefined && { version: system.version }),
    compose: { include: [include] },
  }
  return {
    type: 'ValueSet',
    url,
    status: system.status,
    resource,
    ...(system.version !== undefined && { version: system.version }),
    ...(system.key !== undefined && { key: `${system.key} all ${url}` }),
  }
}
