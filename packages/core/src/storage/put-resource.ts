import { checkGiven, OperationError, quoted } from '../errors/index.js'
import { compact, isObject, jsonMembers, parseInPieces, type JsonObject } from '../json/index.js'
import { finished, type Work } from '../work/index.js'
import type { Condition, IndexEntry } from './query.js'
import type { ContainedEntry, PutEntry } from './storage.js'
import { isResourceId, isResourceType } from './checks.js'
import { metaPrefix } from './stored-resource.js'

/** Creates the index entries of a resource, by which searches find it. `createIndexer` of `fhir-ops/search` creates one from search parameters. */
export interface Indexer {
  (resource: JsonObject): readonly IndexEntry[]
  /** The same in steps, so that other work can run in between. */
  readonly work?: (resource: JsonObject) => Work<readonly IndexEntry[]>
  /** Creates the entries of its contained resources; absent where contained resources are not searchable. */
  readonly contained?: (resource: JsonObject) => Work<readonly ContainedEntry[]>
}

/** A resource to store. */
export interface ResourceToPut {
  readonly type: string
  readonly id: string
  /** The resource, or its JSON text; numbers of a text keep their digits. */
  readonly source: string | object
  /** As `PutEntry.ifVersion`. */
  readonly ifVersion?: string | null | undefined
  /** As `PutEntry.ifOnlyMatch`. */
  readonly ifOnlyMatch?: Condition | undefined
}

/**
 * Creates the write entry of a resource: its text in the layout of storages, and its index entries.
 *
 * @throws {OperationError} as `writableText`; `parameter-required` without an indexer.
 */
export function putResource(put: ResourceToPut, indexer: Indexer): PutEntry {
  return finished(puttingResource(put, indexer))
}

/** As `putResource`, in steps, so that other work can run in between. */
export function* puttingResource({ type, id, source, ...conditions }: ResourceToPut, indexer: Indexer): Work<PutEntry> {
  const written = yield* writableResource(type, id, source)
  checkGiven('indexer', indexer)
  yield
  return yield* putEntry({ type, id, ...conditions, ...written }, indexer)
}

/** A resource to store whose text has already been parsed. */
export interface CheckedResource {
  readonly type: string
  readonly id: string
  readonly text: string
  /** The result of `readStrictJson` for the text: no member occurs twice. It becomes the stored resource and may be changed. */
  readonly resource: JsonObject
}

/** As `puttingResource`, without parsing the text again, and without splitting it into members where it already has the layout of storages. */
export function* puttingChecked({ type, id, text, resource }: CheckedResource, indexer: Indexer): Work<PutEntry> {
  checkAddress(type, id)
  const json = yield* compact(text)
  const written = laidOut(json, { type, id, resource }) ?? (yield* writableResource(type, id, json))
  return yield* putEntry({ type, id, ...written }, indexer)
}

/** Accepts a text that begins with type and id and whose `meta` has no member that a storage sets itself; `undefined` for any other text. */
function laidOut(json: string, { type, id, resource }: Omit<CheckedResource, 'text'>): WritableResource | undefined {
  const { meta } = resource
  if (meta === undefined) {
    const head = `{"resourceType":"${type}","id":"${id}"`
    const text = json.startsWith(head) ? `${head},"meta":{}${json.slice(head.length)}` : undefined
    return text === undefined ? undefined : { text, resource: Object.assign(resource, { meta: {} }) }
  }
  const isKept = isObject(meta) && !Object.keys(meta).some((name) => STAMPED.has(name)) && json.startsWith(metaPrefix(type, id))
  return isKept ? { text: json, resource } : undefined
}

interface Written extends WritableResource, Omit<ResourceToPut, 'source'> {}

function* putEntry({ type, id, text, resource, ifVersion, ifOnlyMatch }: Written, indexer: Indexer): Work<PutEntry> {
  const entries = indexer.work === undefined ? indexer(resource) : yield* indexer.work(resource)
  const contained = indexer.contained === undefined ? [] : yield* indexer.contained(resource)
  return {
    op: 'put',
    type,
    id,
    text,
    entries,
    ...(contained.length > 0 && { contained }),
    ...(ifVersion !== undefined && { ifVersion }),
    ...(ifOnlyMatch !== undefined && { ifOnlyMatch }),
  }
}

/**
 * Writes a resource in the layout of storages: `{"resourceType":"T","id":"x","meta":{...},...}`, without `meta.versionId` and
 * `meta.lastUpdated`, the other members in their order, no blanks between tokens. Writes are checked here: shape, type and id.
 *
 * @param id Replaces the id of the source, which may lack one.
 * @param source The resource, or its JSON text; numbers of a text keep their digits.
 * @throws {OperationError} `resource-invalid` when the source is not a resource of the type, or when type or id cannot be stored;
 *   `parameter-required` without type or id; `body-invalid` when a text is not JSON.
 */
export function writableText(type: string, id: string, source: string | object): string {
  return finished(writableResource(type, id, source)).text
}

/** A resource in the layout of storages. */
interface WritableResource {
  readonly text: string
  readonly resource: JsonObject
}

/** Number of members that are written in one step. */
const STEPS = 1_000

/** As `writableText`, in steps, and also returns the parsed resource so that it is not parsed again. */
export function* writableResource(type: string, id: string, source: string | object): Work<WritableResource> {
  checkAddress(type, id)
  const json = typeof source === 'string' ? source : JSON.stringify(source)
  const resource = yield* parsed(json)
  const members = yield* distinct(json)
  if (resource['resourceType'] !== type) throw new OperationError('resource-invalid', `The resource's resourceType is not ${quoted(type)}.`)
  const meta = yield* metaMembers(members.get('meta'))
  let text = `${metaPrefix(type, id)}${meta}}`
  let steps = 0
  for (const [name, value] of members) {
    if (!LAID_OUT.has(name)) text += `,${JSON.stringify(name)}:${value}`
    if (++steps % STEPS === 0) yield
  }
  return { text: `${text}}`, resource: Object.assign(resource, { id, meta: yield* parsed(`{${meta}}`) }) }
}

const LAID_OUT: ReadonlySet<string> = new Set(['resourceType', 'id', 'meta'])
const STAMPED: ReadonlySet<string> = new Set(['versionId', 'lastUpdated'])

/**
 * Checks that a resource can be stored under this type and id.
 *
 * @throws {OperationError} `parameter-required` without type or id, `resource-invalid` when no resource can be stored under them.
 */
export function checkAddress(type: string, id: string): void {
  checkGiven('type', type)
  checkGiven('id', id)
  if (!isResourceType(type)) throw new OperationError('resource-invalid', `${quoted(type)} is not a resource type.`)
  if (!isResourceId(id)) {
    throw new OperationError('resource-invalid', `${quoted(id)} is not an id: 1 to 64 letters, digits, hyphens and dots are allowed.`)
  }
}

function* metaMembers(meta: string | undefined): Work<string> {
  if (meta === undefined) return ''
  if (!meta.startsWith('{')) throw new OperationError('resource-invalid', 'The member meta must be an object.')
  return [...(yield* distinct(meta))]
    .filter(([name]) => !STAMPED.has(name))
    .map(([name, value]) => `${JSON.stringify(name)}:${value}`)
    .join(',')
}

function* parsed(text: string): Work<JsonObject> {
  let value: unknown
  try {
    value = yield* parseInPieces(text)
  } catch (cause) {
    throw cause instanceof SyntaxError ? new OperationError('body-invalid', 'The resource is not JSON.', { cause }) : cause
  }
  if (!isObject(value)) throw new OperationError('resource-invalid', 'A resource must be a JSON object.')
  return value
}

/** Returns the members of an object of well-formed JSON, by name. Refuses a repeated member. */
function* distinct(json: string): Work<ReadonlyMap<string, string>> {
  const members = yield* jsonMembers(json)
  const found = new Map<string, string>()
  for (const { name, value } of members) {
    found.set(name, value)
    if (found.size % STEPS === 0) yield
  }
  if (found.size < members.length) throw new OperationError('resource-invalid', 'The resource has a member twice.')
  return found
}
