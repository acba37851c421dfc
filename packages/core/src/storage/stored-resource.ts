import { OperationError } from '../errors/index.js'
import { isObject, parseInPieces, type JsonObject } from '../json/index.js'
import { sharedWork, type Work } from '../work/index.js'
import type { PutEntry, StoredResource, WriteEntry } from './storage.js'

/** What an adapter knows of one stored version. */
export interface StoredRow {
  readonly type: string
  readonly id: string
  readonly versionId: string
  readonly lastUpdated: string
  /** As it came with the put: without `meta.versionId` and `meta.lastUpdated`. */
  readonly text: string
}

/**
 * Makes the `StoredResource` that an adapter returns. The text is stamped and parsed at first use; from then on the row's is not kept as well.
 *
 * @param textOf Makes the whole text of a row that is kept in another form.
 */
export function storedResource(row: StoredRow, textOf: (row: StoredRow) => string = stampedText): StoredResource {
  return new Stored(row, textOf)
}

/** A storage in memory holds one for each resource: getters that each object had for itself would take 800 bytes more than these. */
class Stored implements StoredResource {
  readonly type: string
  readonly id: string
  readonly versionId: string
  readonly lastUpdated: string
  /** That of the row as long as there is `#textOf`. */
  #text: string
  #textOf: ((row: StoredRow) => string) | undefined
  #resource: JsonObject | WeakRef<JsonObject> | undefined = undefined
  #parsing: (() => Work<JsonObject>) | undefined = undefined

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
    this.#parsing ??= sharedWork(() => parsedInPieces(this.text))
    const resource = yield* this.#parsing()
    // It would keep its result.
    this.#parsing = undefined
    return this.#known() ?? this.#keep(resource)
  }

  #known(): JsonObject | undefined {
    return this.#resource instanceof WeakRef ? this.#resource.deref() : this.#resource
  }

  #keep(resource: JsonObject): JsonObject {
    this.#resource = this.text.length > LONG_TEXT ? new WeakRef(resource) : resource
    return resource
  }
}

/**
 * What is parsed of a longer text, in characters, is kept only as long as somebody uses it: indexes are made of it and have what they need, and it takes two
 * to three times as much memory as the text.
 */
export const LONG_TEXT = 500_000

/** The row's text with `meta.versionId` and `meta.lastUpdated` set in, numbers untouched. */
export function stampedText(row: StoredRow): string {
  const seam = metaSeam(row.type, row.id)
  const rest = row.text.slice(seam)
  const comma = rest.startsWith('}') ? '' : ','
  return `${row.text.slice(0, seam)}"versionId":"${row.versionId}","lastUpdated":"${row.lastUpdated}"${comma}${rest}`
}

/** How every stored text begins. */
export function metaPrefix(type: string, id: string): string {
  return `{"resourceType":"${type}","id":"${id}","meta":{`
}

/**
 * Checks that a write entry is valid.
 *
 * @throws {OperationError} `resource-invalid` when the text of a put does not begin as every stored text does; `parameter-value` for what is neither
 *   a put nor a deletion, such as a bare resource.
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

function* parsedInPieces(text: string): Work<JsonObject> {
  return objectIn(yield* parseInPieces(text))
}

function objectIn(value: unknown): JsonObject {
  if (!isObject(value)) throw new OperationError('storage-damaged', 'A stored text is not a JSON object.')
  return value
}

/** The parameter by which a resource refers to those within it; no code of a search parameter is like it. */
export const CONTAINED_PARAM = '#'

/** The type under which storages keep contained resources of a type. It is not a FHIR type, so other searches do not find them. */
export function containedType(type: string): string {
  return `#${type}`
}

/** The types under which `refersTo` looks for resources of a type: resources of their own, and contained ones. No id is one in both places. */
export function placesOf(type: string): readonly string[] {
  return isContainedType(type) ? [type] : [type, containedType(type)]
}

/** Whether a type is one of `containedType`. */
export function isContainedType(type: string): boolean {
  return type.startsWith('#')
}

/** Type and id of the container of a contained resource with this id in storage; `undefined` for ids of independent resources. */
export function containerOfPlace(id: string): { readonly type: string; readonly id: string } | undefined {
  const [, type, container] = /^([A-Za-z]+)\/([^#]+)#/.exec(id) ?? []
  return type === undefined || container === undefined ? undefined : { type, id: container }
}

/** The resources within one that is put, as puts of their own; their text has nothing but type and id. */
export function containedPuts({ contained = [] }: PutEntry): readonly PutEntry[] {
  return contained.map(({ type, id, entries }) => ({ op: 'put', type, id, text: `${metaPrefix(type, id)}}}`, entries }))
}
