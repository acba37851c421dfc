import { canonicalOf, newestOf, type Definition } from '../../content/index.js'
import type { OperationContext } from '../../context/index.js'
import { objectsAt, stringAt, type JsonObject } from '../../json/index.js'
import { implicitDefinition, refuseUnopened } from '../code-system/imported-releases.js'
import { bestVersion } from '../versions.js'

const WHOLE = '?fhir_vs'

/**
 * The value set with this canonical: one that an imported code system defines by its url, a ValueSet resource, or the one of all codes of
 * a CodeSystem, which it names in `valueSet` and which `<its url>?fhir_vs` names, too.
 *
 * @param version Used when the canonical has none.
 * @returns `undefined` when there is none. Without any version the newest is meant.
 * @throws {OperationError} `not-supported` when a code system was imported that may define it and that no code system of the context opens.
 */
export async function findValueSet(ctx: OperationContext, canonical: string, version?: string): Promise<Definition | undefined> {
  const implicit = await implicitDefinition(ctx, 'ValueSet', canonical)
  if (implicit !== undefined) return implicit
  const { url, version: named = version } = canonicalOf(canonical)
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

/** The value set with this id among those that a ValueSet contains. */
export function containedValueSet(resource: JsonObject, id: string): JsonObject | undefined {
  return objectsAt(resource, 'contained').find((item) => item['resourceType'] === 'ValueSet' && stringAt(item, 'id') === id)
}

/** @see https://hl7.org/fhir/R4/codesystem-definitions.html#CodeSystem.valueSet */
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
