import { OperationError } from '../errors/index.js'
import { frozenJson, isObject, parseInPieces, type JsonObject } from '../json/index.js'
import { sharedWork, type Work } from '../work/index.js'
import type { PutEntry, StoredResource, WriteEntry } from './storage.js'

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
export function metaPrefix(type: string, id: string): string {
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
