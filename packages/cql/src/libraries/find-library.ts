import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { canonicalOf } from 'fhir-ops/internal/content'
import { quoted } from 'fhir-ops/internal/errors'
import type { PinnedVersions } from 'fhir-ops/internal/evaluate'
import { nodesAt, textAt, type ElmNode } from '../elm/node.js'
import type { CqlTranslator } from '../translator/translator.js'
import { jsonText } from '../values/json-text.js'

/** A Library resource. */
export type LibraryResource = Readonly<Record<string, unknown>>

/** Options for loading the ELM of Library resources. */
export interface LibraryLoading {
  readonly ctx: OperationContext
  /** Translates libraries that have CQL text only. If absent, these are refused. */
  readonly translator: CqlTranslator | undefined
  /** Libraries that a Measure or a call names. Includes find them by name, whatever their url is. */
  readonly beside?: readonly NamedLibrary[]
  /** Versions of libraries whose version is left open. */
  readonly pinned?: PinnedVersions | undefined
  /** Called with each Library that is used. */
  readonly onLibrary?: ((resource: LibraryResource) => void) | undefined
}

/** A Library, and its identifier in CQL if that is known. */
interface NamedLibrary {
  readonly resource: LibraryResource
  readonly id?: string
}

/** A library that another includes, or a model that it uses. */
interface IncludedName {
  readonly id: string
  /** The namespace, if the including library states it. */
  readonly namespace?: string | undefined
  readonly version: string | undefined
  /** The Library that includes or uses it. */
  readonly from: LibraryResource | undefined
}

/** Finds a library that another includes. */
export type LibraryFinder = (name: IncludedName) => Promise<LibraryResource>

/**
 * Creates the finder of one evaluation. It searches for an included library among the dependencies of the including one (`relatedArtifact`), by the base of
 * the including one's url, and among the libraries that the Measure or call names.
 *
 * @throws {OperationError} `definition-not-found` for a library that does not exist; `not-supported` for two versions of one, and for two with one name.
 */
export function libraryFinder(loading: LibraryLoading): LibraryFinder {
  const known = new Map<string, FoundLibrary>()
  return async (name) => {
    const before = known.get(name.id)
    if (before !== undefined) {
      await checkSame(loading, before, name)
      return before.resource
    }
    const resource = await found(loading, name)
    known.set(name.id, { ...name, resource })
    loading.onLibrary?.(resource)
    return resource
  }
}

interface FoundLibrary extends IncludedName {
  readonly resource: LibraryResource
}

/** Rejects a library that has the name of another, or another version. */
async function checkSame(loading: LibraryLoading, before: FoundLibrary, name: IncludedName): Promise<void> {
  const [what, one, other] = differingNames(before, name) ?? (await differingPlaces(loading, before, name)) ?? []
  if (one === undefined || other === undefined) return
  throw new OperationError(
    'not-supported',
    `The library ${quoted(name.id)} is included ${what} ${quoted(one)} and ${quoted(other)}; it can be in one.`,
  )
}

function differingNames({ resource, ...before }: FoundLibrary, { namespace, version }: IncludedName): readonly string[] | undefined {
  if (namespace !== undefined && before.namespace !== undefined && namespace !== before.namespace)
    return ['from the namespaces', before.namespace, namespace]
  const own = textAt(resource, 'version')
  return version === undefined || version === before.version || version === own
    ? undefined
    : ['in the versions', before.version ?? own ?? '', version]
}

/** The urls of two libraries that are found for one name, unless one is a copy of the other. */
async function differingPlaces(
  loading: LibraryLoading,
  { resource }: FoundLibrary,
  name: IncludedName,
): Promise<readonly string[] | undefined> {
  const url = textAt(resource, 'url')
  const places = placesOf(name)
  if (places[0]?.url === url) return undefined
  const other = await foundAt(loading, { ...name, version: name.version ?? textAt(resource, 'version') }, places)
  const isSame = other === undefined || textAt(other, 'url') === url || jsonText(other['content']) === jsonText(resource['content'])
  return isSame ? undefined : ['as', url ?? '', textAt(other, 'url') ?? '']
}

async function found(loading: LibraryLoading, name: IncludedName): Promise<LibraryResource> {
  const { id, version } = name
  const places = placesOf(name)
  const resource = await foundAt(loading, name, places)
  if (resource !== undefined) return resource
  const tried = places.map(({ url }) => ` at ${url}`).at(-1) ?? ''
  throw new OperationError(
    'definition-not-found',
    `The included library ${quoted(id)}${version === undefined ? '' : ` version ${quoted(version)}`} does not exist${tried}.`,
  )
}

/** The canonicals by which an included library is searched for. */
function placesOf({ from, id }: IncludedName): readonly Canonical[] {
  return [...dependencies(from, id), ...neighbor(from, id)]
}

async function foundAt(
  { ctx, beside = [], pinned }: LibraryLoading,
  { id, version }: IncludedName,
  places: readonly Canonical[],
): Promise<LibraryResource | undefined> {
  ctx.authorize?.('read', 'Library')
  for (const { url, version: known } of places) {
    const definition = await ctx.content.resolve('Library', url, version ?? known ?? pinned?.of(url))
    if (definition !== undefined) return definition.resource
  }
  return beside.find((one) => isCalled(one, id) && (version === undefined || textAt(one.resource, 'version') === version))?.resource
}

/** Bases of the urls under which guides publish their models, whichever library uses them. */
const MODEL_PLACES = [
  'http://hl7.org/fhir/Library',
  'http://hl7.org/fhir/us/cql/Library',
  'http://hl7.org/fhir/us/qicore/Library',
  'http://hl7.org/fhir/us/core/Library',
]

/**
 * Finds the Library that defines a model (Using CQL with FHIR, ModelInfo): `QICore-ModelInfo` among the dependencies of the library that uses it, by the base
 * of that library's url, and under the urls of published guides.
 *
 * @throws {OperationError} `definition-not-found` for a model that does not exist.
 */
export async function findModel(loading: LibraryLoading, { id: model, version, from }: IncludedName): Promise<LibraryResource> {
  const id = `${model}-ModelInfo`
  const published = MODEL_PLACES.map((base) => ({ url: `${base}/${id}` }))
  const resource = await foundAt(loading, { id, version, from }, [...placesOf({ id, version, from }), ...published])
  if (resource !== undefined) return resource
  const name = `${quoted(model)}${version === undefined ? '' : ` version ${quoted(version)}`}`
  throw new OperationError(
    'definition-not-found',
    `The model ${name} is not known here: CQL text can use it if its Library ${quoted(id)} (type model-definition) is loaded or stored, and a Library with ELM needs none.`,
  )
}

interface Canonical {
  readonly url: string
  readonly version?: string | undefined
}

/** The dependencies that a Library declares under a name. */
function dependencies(from: LibraryResource | undefined, id: string): readonly Canonical[] {
  return nodesAt(from ?? {}, 'relatedArtifact').flatMap((artifact) => {
    const resource = textAt(artifact, 'type') === 'depends-on' ? textAt(artifact, 'resource') : undefined
    if (resource === undefined) return []
    const { url, version } = canonicalOf(resource)
    return url.endsWith(`/${id}`) ? [{ url, version }] : []
  })
}

function neighbor(from: LibraryResource | undefined, id: string): readonly Canonical[] {
  const url = textAt(from ?? {}, 'url')
  const slash = url?.lastIndexOf('/') ?? -1
  return url === undefined || slash < 0 ? [] : [{ url: `${url.slice(0, slash)}/${id}` }]
}

/** Whether a Library has this identifier. If its identifier is not known, its name and the end of its url are compared. */
export function isCalled({ resource, id: own }: NamedLibrary, id: string): boolean {
  if (own !== undefined) return own === id
  return textAt(resource, 'name') === id || textAt(resource, 'url')?.endsWith(`/${id}`) === true
}

/** The media type of an attachment, without its parameters. */
export function mediaType(attachment: ElmNode): string | undefined {
  return textAt(attachment, 'contentType')?.split(';')[0]
}

/** The data (base64) of the first attachment of a Library that has the media type. */
export function dataOf(resource: LibraryResource, contentType: string): string | undefined {
  const attachment = nodesAt(resource, 'content').find((content) => mediaType(content) === contentType)
  return attachment === undefined ? undefined : textAt(attachment, 'data')
}

/** Decodes base64 data to text. @throws {OperationError} `definition-invalid` if the data is not base64 of UTF-8. */
export function decoded(resource: LibraryResource, contentType: string, data: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytesOf(atob(data)))
  } catch (cause) {
    throw new OperationError('definition-invalid', `The ${contentType} of Library ${nameOf(resource)} is not base64 of UTF-8 text.`, {
      cause,
      expression: ['Library.content'],
    })
  }
}

/** This loop is ten times as fast as `Uint8Array.from` with a function, for ELM of a million characters. */
function bytesOf(binary: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(binary.length)
  for (let index = 0; index < bytes.length; index++) bytes[index] = binary.charCodeAt(index)
  return bytes
}

/** Name of a Library in messages: its url, name or id. */
export function nameOf(resource: LibraryResource): string {
  return textAt(resource, 'url') ?? textAt(resource, 'name') ?? textAt(resource, 'id') ?? 'without a name'
}
