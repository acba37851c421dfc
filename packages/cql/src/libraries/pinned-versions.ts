import { OperationError } from 'fhir-ops/errors'
import { canonicalOf } from 'fhir-ops/internal/content'
import { quoted } from 'fhir-ops/internal/errors'
import type { JsonObject } from 'fhir-ops/internal/json'
import { nodeAt, nodesAt, textAt } from '../elm/node.js'

/**
 * The version of a definition that applies where CQL and canonicals leave it open; `undefined` for the newest.
 *
 * @throws {OperationError} `definition-invalid` if several apply.
 */
export type PinnedVersions = (url: string) => string | undefined

/**
 * The versions that artifacts pin (Using CQL with FHIR, artifact versioning): in their expansion parameters, or else in their dependencies
 * (`relatedArtifact` of type `depends-on`).
 *
 * @param levels Resources of equal rank; those of earlier levels go first, as the Measure before its libraries.
 */
export function pinnedVersions(levels: readonly (readonly JsonObject[])[]): PinnedVersions {
  const versions = levels.map(versionsIn)
  return (url) => {
    const [version, other] = versions.map((level) => level.get(url)).find((found) => found !== undefined) ?? []
    if (other === undefined) return version
    throw new OperationError(
      'definition-invalid',
      `The libraries pin ${quoted(url)} to the versions ${quoted(version ?? '')} and ${quoted(other)}; the Measure can say which one applies.`,
    )
  }
}

function versionsIn(resources: readonly JsonObject[]): ReadonlyMap<string, readonly string[]> {
  const versions = new Map<string, readonly string[]>()
  for (const resource of resources) {
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
  return nodesAt(resource, 'relatedArtifact').flatMap((artifact) =>
    textAt(artifact, 'type') === 'depends-on' ? pinnedCanonical(textAt(artifact, 'resource')) : [],
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
  const references = nodesAt(resource, 'extension')
    .filter((extension) => textAt(extension, 'url')?.endsWith('-expansionParameters') === true)
    .map((extension) => textAt(nodeAt(extension, 'valueReference') ?? {}, 'reference'))
  return nodesAt(resource, 'contained')
    .filter((contained) => references.includes(`#${textAt(contained, 'id') ?? ''}`))
    .flatMap((parameters) => nodesAt(parameters, 'parameter'))
    .filter((parameter) => VERSIONS.has(textAt(parameter, 'name')))
    .flatMap((parameter) =>
      pinnedCanonical(textAt(parameter, 'valueCanonical') ?? textAt(parameter, 'valueUri') ?? textAt(parameter, 'valueString')),
    )
}

function pinnedCanonical(canonical = ''): readonly PinnedCanonical[] {
  const { url, version } = canonicalOf(canonical)
  return version === undefined ? [] : [{ url, version }]
}
