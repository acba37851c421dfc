import { canonicalOf, formatCanonical } from '../content/index.js'
import type { OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { stringAt, objectAt, objectsAt, type JsonObject } from '../json/index.js'
import { isHidden } from '../operation/index.js'

/**
 * The Measure with a name: `Measure/<id>`, an id, a url or `url|version`. Without a version: the one that is pinned, or else the newest that is not retired.
 *
 * @throws {OperationError} `not-found`; `deleted` for an id that is in the storage's history.
 */
export async function findMeasure(ctx: OperationContext, name: string, pinned?: PinnedVersions): Promise<JsonObject> {
  const found = name.includes(':') ? await measureByCanonical(ctx, name, pinned) : await byId(ctx, name.replace(/^Measure\//, ''))
  if (found === undefined)
    throw new OperationError('not-found', `Measure ${quoted(name)} does not exist.`, {
      expression: ['measure'],
      missing: { kind: 'Measure', name },
    })
  const definition = canonicalOfMeasure(found)
  const isOpen = name.includes(':') && canonicalOf(name).version === undefined
  const isPinned = isOpen && pinned?.of(canonicalOf(name).url) !== undefined
  const isNewest = isOpen && !isPinned
  const why = isNewest
    ? 'it is the newest of its url that is not retired'
    : isPinned
      ? 'the manifest states this version'
      : 'the request names it'
  ctx.explain?.step({
    kind: 'measure',
    outcome: 'chosen',
    reason: isNewest ? 'newest' : 'request',
    definition,
    text: `The Measure ${quoted(definition)} was used: ${why}.`,
  })
  return found
}

async function byId(ctx: OperationContext, id: string): Promise<JsonObject | undefined> {
  if (isHidden(ctx, 'Measure', id)) return undefined
  const stored = await ctx.storage.read('Measure', id)
  if (stored !== undefined) return stored.resource
  const past = await ctx.storage.history?.page({ types: ['Measure'], id, limit: 1 })
  if (past?.items.length) throw new OperationError('deleted', `Measure/${id} is deleted.`, { expression: ['measure'] })
  return undefined
}

/** The Measure with a canonical; without a version, the one that is pinned, or else the newest that is not retired; `undefined` when there is none. */
export async function measureByCanonical(
  ctx: OperationContext,
  canonical: string,
  pinned?: PinnedVersions,
): Promise<JsonObject | undefined> {
  ctx.authorize?.('read', 'Measure')
  const { url, version: stated, fragment } = canonicalOf(canonical)
  const version = stated ?? pinned?.of(url)
  if (fragment !== undefined) return undefined
  const definition = await ctx.content.resolve('Measure', url, version)
  return version === undefined && definition?.status === 'retired' ? undefined : definition?.resource
}

/** `url|version` of a Measure, or `Measure/<id>` when it has no url. */
export function canonicalOfMeasure(measure: JsonObject): string {
  const url = stringAt(measure, 'url')
  return url === undefined ? `Measure/${stringAt(measure, 'id')}` : formatCanonical(url, stringAt(measure, 'version'))
}

/** The versions of definitions that apply where CQL, canonicals and value sets leave them open. */
export interface PinnedVersions {
  /**
   * The version of a definition; `undefined` for the newest.
   *
   * @throws {OperationError} `definition-invalid` if several apply.
   */
  of(url: string): string | undefined
  /** The versions by url, without those of which several apply. */
  readonly byUrl: ReadonlyMap<string, string>
}

/**
 * The versions that artifacts pin (Using CQL with FHIR, artifact versioning): in their expansion parameters, or else in their dependencies and components
 * (`relatedArtifact` of type `depends-on` or `composed-of`).
 *
 * @param levels Resources of equal rank; those of earlier levels go first, as a manifest before the Measure, and the Measure before its libraries.
 */
export function pinnedVersions(levels: readonly (readonly (JsonObject | undefined)[])[]): PinnedVersions {
  const found = new Map<string, readonly string[]>()
  for (const level of levels.map(versionsIn).toReversed()) for (const [url, versions] of level) found.set(url, versions)
  return {
    of: (url) => {
      const [version, other] = found.get(url) ?? []
      if (other === undefined) return version
      throw new OperationError(
        'definition-invalid',
        `The libraries pin ${quoted(url)} to the versions ${quoted(version ?? '')} and ${quoted(other)}; the Measure can say which one applies.`,
      )
    },
    byUrl: new Map(
      [...found].flatMap(([url, [version, ...more]]): [string, string][] =>
        version === undefined || more.length > 0 ? [] : [[url, version]],
      ),
    ),
  }
}

/**
 * The manifest of a request (Canonical Resource Management Infrastructure, artifact collections): a Library that lists versions.
 *
 * @throws {OperationError} `not-found` if it does not exist.
 */
export async function manifestOf(ctx: OperationContext, canonical: string | undefined): Promise<JsonObject | undefined> {
  if (canonical === undefined) return undefined
  ctx.authorize?.('read', 'Library')
  const { url, version } = canonicalOf(canonical)
  const found = await ctx.content.resolve('Library', url, version)
  if (found !== undefined) return found.resource
  throw new OperationError('not-found', `The manifest ${quoted(canonical)} does not exist.`, {
    expression: ['manifest'],
    missing: { kind: 'Library', name: canonical },
  })
}

function versionsIn(resources: readonly (JsonObject | undefined)[]): ReadonlyMap<string, readonly string[]> {
  const versions = new Map<string, readonly string[]>()
  for (const resource of resources.filter((one) => one !== undefined)) {
    const parameters = Map.groupBy(expansionVersions(resource), ({ url }) => url)
    const stated = [...expansionVersions(resource), ...dependencyVersions(resource).filter(({ url }) => !parameters.has(url))]
    for (const { url, version } of stated) versions.set(url, [...new Set([...(versions.get(url) ?? []), version])])
  }
  return versions
}

interface PinnedCanonical {
  readonly url: string
  readonly version: string
}

function dependencyVersions(resource: JsonObject): readonly PinnedCanonical[] {
  return objectsAt(resource, 'relatedArtifact').flatMap((artifact) =>
    ['depends-on', 'composed-of'].includes(stringAt(artifact, 'type') ?? '') ? pinnedCanonical(stringAt(artifact, 'resource')) : [],
  )
}

/** Parameters of an expansion that state the version of a definition. */
const VERSIONS: ReadonlySet<string | undefined> = new Set([
  'canonicalVersion',
  'valueset-version',
  'default-valueset-version',
  'force-valueset-version',
  'system-version',
  'force-system-version',
])

/** The versions in the contained Parameters that the extension `cqf-expansionParameters` (or `cqfm-`, `crmi-`) refers to. */
function expansionVersions(resource: JsonObject): readonly PinnedCanonical[] {
  const references = objectsAt(resource, 'extension')
    .filter((extension) => stringAt(extension, 'url')?.endsWith('-expansionParameters') === true)
    .map((extension) => stringAt(objectAt(extension, 'valueReference'), 'reference'))
  return objectsAt(resource, 'contained')
    .filter((contained) => references.includes(`#${stringAt(contained, 'id') ?? ''}`))
    .flatMap((parameters) => objectsAt(parameters, 'parameter'))
    .filter((parameter) => VERSIONS.has(stringAt(parameter, 'name')))
    .flatMap((parameter) =>
      pinnedCanonical(stringAt(parameter, 'valueCanonical') ?? stringAt(parameter, 'valueUri') ?? stringAt(parameter, 'valueString')),
    )
}

function pinnedCanonical(canonical = ''): readonly PinnedCanonical[] {
  const { url, version } = canonicalOf(canonical)
  return version === undefined ? [] : [{ url, version }]
}
