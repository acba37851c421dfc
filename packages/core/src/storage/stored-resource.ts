import { OperationError, checkGiven, checkText, quoted } from '../errors/index.js'
import { compact, frozenJson, isObject, jsonMembers, parseInPieces, type JsonObject } from '../json/index.js'
import { finished, sharedWork, type Work } from '../work/index.js'
import { isResourceId, isResourceType } from './checks.js'
import type { Condition, IndexEntry } from './query.js'
import type { ContainedEntry, PutEntry, StoredResource, WriteEntry } from './storage.js'

/** One stored version as an adapter reads it. */
interface StoredRow {
  readonly type: string
  readonly id: string
  readonly versionId: string
  readonly lastUpdated: string
  /** The text of the put: without `meta.versionId` and `meta.lastUpdated`. */
  readonly text: string
}

/**
 * Creates the `StoredResource` that an adapter returns. Its text is completed and parsed at first use; the text of the row is then released.
 *
 * @param textOf Creates the complete text of a row that is stored in another form.
 */
export function storedResource(row: StoredRow, textOf: (row: StoredRow) => string = stampedText): StoredResource {
  return new Stored(row, textOf)
}

/** A class, because a storage in memory holds one object per resource: getters on each object would take 800 bytes more than those of a class. */
class Stored implements StoredResource {
  readonly type: string
  readonly id: string
  readonly versionId: string
  readonly lastUpdated: string
  /** The text of the row until `#textOf` has been called. */
  #text: string
  #textOf: ((row: StoredRow) => string) | undefined
  #resource: JsonObject | WeakRef<JsonObject> | undefined = undefined
  #parsing: (() => Work<unknown>) | undefined = undefined

  constructor({ type, id, versionId, lastUpdated, text }: StoredRow, textOf: (row: StoredRow) => string) {
    this.type = type
    this.id = id
    this.versionId = versionId
    this.lastUpdated = lastUpdated
    this.#text = text
    this.#textOf = textOf
  }

  get text(): string {
    if (this.#textOf === undefined) return this.#text
    const { type, id, versionId, lastUpdated } = this
    this.#text = this.#textOf({ type, id, versionId, lastUpdated, text: this.#text })
    this.#textOf = undefined
    return this.#text
  }

  get resource(): JsonObject {
    return this.#known() ?? this.#keep(objectIn(JSON.parse(this.text)))
  }

  get parsing(): () => Work<JsonObject> {
    return () => this.#parsed()
  }

  *#parsed(): Work<JsonObject> {
    const known = this.#known()
    if (known !== undefined) return known
    this.#parsing ??= sharedWork(() => parseInPieces(this.text))
    const value = yield* this.#parsing()
    // Otherwise it would keep its result.
    this.#parsing = undefined
    return this.#known() ?? this.#keep(objectIn(value))
  }

  #known(): JsonObject | undefined {
    return this.#resource instanceof WeakRef ? this.#resource.deref() : this.#resource
  }

  #keep(resource: JsonObject): JsonObject {
    const kept = frozenJson(resource)
    this.#resource = this.text.length > LONG_TEXT ? new WeakRef(kept) : kept
    return kept
  }
}

/**
 * Texts with more characters than this are kept parsed only while in use: indexes hold what they need of them, and a parsed resource takes two to three
 * times as much memory as its text.
 */
export const LONG_TEXT = 500_000

/** Inserts `meta.versionId` and `meta.lastUpdated` into the row's text. Numbers keep their digits. */
export function stampedText(row: StoredRow): string {
  const seam = metaSeam(row.type, row.id)
  const rest = row.text.slice(seam)
  const comma = rest.startsWith('}') ? '' : ','
  return `${row.text.slice(0, seam)}"versionId":"${row.versionId}","lastUpdated":"${row.lastUpdated}"${comma}${rest}`
}

/** Returns the beginning of every stored text. */
function metaPrefix(type: string, id: string): string {
  return `{"resourceType":"${type}","id":"${id}","meta":{`
}

/**
 * Checks that a write entry is valid.
 *
 * @throws {OperationError} `resource-invalid` when the text of a put does not begin as every stored text; `parameter-value` for an entry that is
 *   neither a put nor a deletion, such as a bare resource.
 */
export function checkLaidOut(entry: WriteEntry): void {
  if (entry.op === 'delete') return
  if (entry.op !== 'put')
    throw new OperationError('parameter-value', "A write takes entries: those of putResource, or { op: 'delete', type, id }.")
  const { type, id, text } = entry
  if (text.startsWith(metaPrefix(type, id))) return
  throw new OperationError('resource-invalid', `The text of ${type}/${id} is not laid out for storage.`)
}

function metaSeam(type: string, id: string): number {
  return metaPrefix(type, id).length
}

function objectIn(value: unknown): JsonObject {
  if (!isObject(value)) throw new OperationError('storage-damaged', 'A stored text is not a JSON object.')
  return value
}

/** The parameter by which a resource refers to its contained resources; no search parameter has this code. */
export const CONTAINED_PARAM = '#'

/** Returns the type under which storages keep contained resources of a type. It is not a FHIR type, so other searches do not find them. */
export function containedType(type: string): string {
  return `#${type}`
}

/** Returns the types under which `refersTo` finds resources of a type: independent and contained resources. Their ids never coincide. */
export function placesOf(type: string): readonly string[] {
  return isContainedType(type) ? [type] : [type, containedType(type)]
}

/** True for a type that `containedType` returns. */
export function isContainedType(type: string): boolean {
  return type.startsWith('#')
}

/** Returns type and id of the container of the contained resource with this id in storage; `undefined` for the id of an independent resource. */
export function containerOfPlace(id: string): { readonly type: string; readonly id: string } | undefined {
  const [, type, container] = /^([A-Za-z]+)\/([^#]+)#/.exec(id) ?? []
  return type === undefined || container === undefined ? undefined : { type, id: container }
}

/** Returns the contained resources of a put as separate puts, whose text has only type and id. */
export function containedPuts({ contained = [] }: PutEntry): readonly PutEntry[] {
  return contained.map(({ type, id, entries }) => ({ op: 'put', type, id, text: `${metaPrefix(type, id)}}}`, entries }))
}

/** Creates the index entries of a resource, by which searches find it. `createIndexer` of `fhir-ops/search` creates one from search parameters. */
export interface Indexer {
  (resource: JsonObject): readonly IndexEntry[]
  /** The same in steps, so that other work can run in between. */
  readonly work?: (resource: JsonObject) => Work<readonly IndexEntry[]>
  /** Creates the entries of its contained resources; absent where contained resources are not searchable. */
  readonly contained?: (resource: JsonObject) => Work<readonly ContainedEntry[]>
}

/** Creates the index entries of a resource, in steps where the indexer has some. */
export function* indexing(indexer: Indexer, resource: JsonObject): Work<readonly IndexEntry[]> {
  return indexer.work === undefined ? indexer(resource) : yield* indexer.work(resource)
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
export function* puttingResource(put: ResourceToPut, indexer: Indexer): Work<PutEntry> {
  checkGiven('put', put)
  const { type, id, source, ...conditions } = put
  const written = yield* writableResource(type, id, source)
  checkGiven('indexer', indexer)
  if (typeof indexer !== 'function') throw new OperationError('parameter-value', 'indexer must be a function, such as r4().indexer.')
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
  const entries = yield* indexing(indexer, resource)
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
  const json = typeof source === 'string' ? source : jsonOf(source)
  const resource = yield* parsed(json)
  const members = yield* distinct(json)
  if (resource['resourceType'] !== type) throw new OperationError('resource-invalid', `The resource's resourceType is not ${quoted(type)}.`)
  const stated = members.get('meta') ?? '{}'
  if (!stated.startsWith('{')) throw new OperationError('resource-invalid', 'The member meta must be an object.')
  const meta = keptMeta(yield* distinct(stated))
  let text = `${metaPrefix(type, id)}${meta}}`
  let steps = 0
  for (const [name, value] of members) {
    if (!LAID_OUT.has(name)) text += `,${JSON.stringify(name)}:${value}`
    if (++steps % STEPS === 0) yield
  }
  return { text: `${text}}`, resource: Object.assign(resource, { id, meta: yield* parsed(`{${meta}}`) }) }
}

function jsonOf(source: object): string {
  checkGiven('source', source)
  let json: string
  let lost: string | undefined
  try {
    // Of a function this is undefined, which is not JSON either.
    json = String(JSON.stringify(source))
    // Usual resources contain neither.
    if (json.includes('null') || json.includes('{}')) lost = placeOfLost(source, String(Reflect.get(source, 'resourceType')))
  } catch (cause) {
    throw new OperationError('resource-invalid', 'The resource cannot be written as JSON: it contains a BigInt, or itself.', { cause })
  }
  if (lost !== undefined) throw new OperationError('resource-invalid', `The value of ${quoted(lost)} cannot be written as JSON.`)
  return json
}

/** Finds a value that `JSON.stringify` would replace by `null` or `{}`. */
function placeOfLost(value: unknown, place: string): string | undefined {
  if (isLost(value)) return place
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return undefined
  const isList = Array.isArray(value)
  for (const [name, member] of isList ? value.entries() : Object.entries(value)) {
    const lost = member === undefined && !isList ? undefined : placeOfLost(member, isList ? `${place}[${name}]` : `${place}.${name}`)
    if (lost !== undefined) return lost
  }
  return undefined
}

function isLost(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value)
  if (value instanceof Date) return Number.isNaN(value.getTime())
  return ['undefined', 'function', 'symbol'].includes(typeof value) || value instanceof Map || value instanceof Set
}

const LAID_OUT: ReadonlySet<string> = new Set(['resourceType', 'id', 'meta'])
const STAMPED: ReadonlySet<string> = new Set(['versionId', 'lastUpdated'])

/**
 * Checks that a resource can be stored under this type and id.
 *
 * @throws {OperationError} `parameter-required` without type or id, `resource-invalid` when no resource can be stored under them.
 */
export function checkAddress(type: string, id: string): void {
  checkText('type', type)
  checkText('id', id)
  if (!isResourceType(type)) throw new OperationError('resource-invalid', `${quoted(type)} is not a resource type.`)
  if (!isResourceId(id)) {
    throw new OperationError('resource-invalid', `${quoted(id)} is not an id: 1 to 64 letters, digits, hyphens and dots are allowed.`)
  }
}

/** Returns the members of `meta` besides those that storages set, as text. */
function keptMeta(members: ReadonlyMap<string, string>): string {
  return [...members]
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
