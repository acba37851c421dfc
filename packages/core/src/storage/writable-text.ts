import { checkGiven, OperationError, quoted } from '../errors/index.js'
import { isObject, type JsonObject } from '../json/index.js'
import { jsonMembers, type JsonMember } from './json-members.js'
import { isResourceId, isResourceType } from './resource-types.js'
import { metaPrefix } from './stored-resource.js'

/**
 * Lays a resource out as storage keeps it: `{"resourceType":"T","id":"x","meta":{...},...}`, without `meta.versionId` and
 * `meta.lastUpdated`, the other members in their order, no blanks between tokens. This is where writes are checked: shape, type and id.
 *
 * @param id Replaces the id of the source, which may lack one.
 * @param source The resource, or its JSON text; numbers of a text keep their digits.
 * @throws {OperationError} `resource-invalid` when the source is not a resource of the type, or when type or id cannot be stored;
 *   `parameter-required` without type or id; `body-invalid` when a text is not JSON.
 */
export function writableText(type: string, id: string, source: string | object): string {
  return writableResource(type, id, source).text
}

/** `writableText` with what it says, so that nobody parses it again. Throws as that does. */
export function writableResource(
  type: string,
  id: string,
  source: string | object,
): { readonly text: string; readonly resource: JsonObject } {
  checkAddress(type, id)
  const json = typeof source === 'string' ? source : JSON.stringify(source)
  const resource = parsed(json)
  const members = distinct(jsonMembers(json))
  if (resource['resourceType'] !== type) throw new OperationError('resource-invalid', `The resource's resourceType is not ${quoted(type)}.`)
  const meta = metaMembers(members.get('meta'))
  const others = [...members].filter(([name]) => !LAID_OUT.has(name))
  const tail = others.map(([name, value]) => `,${JSON.stringify(name)}:${value}`).join('')
  return { text: `${metaPrefix(type, id)}${meta}}${tail}}`, resource: { ...resource, id, meta: parsed(`{${meta}}`) } }
}

const LAID_OUT: ReadonlySet<string> = new Set(['resourceType', 'id', 'meta'])
const STAMPED: ReadonlySet<string> = new Set(['versionId', 'lastUpdated'])

/** @throws {OperationError} `parameter-required` without type or id, `resource-invalid` when no resource can be stored under them. */
export function checkAddress(type: string, id: string): void {
  checkGiven('type', type)
  checkGiven('id', id)
  if (!isResourceType(type)) throw new OperationError('resource-invalid', `${quoted(type)} is not a resource type.`)
  if (!isResourceId(id)) {
    throw new OperationError('resource-invalid', `${quoted(id)} is not an id: 1 to 64 letters, digits, hyphens and dots are allowed.`)
  }
}

function metaMembers(meta: string | undefined): string {
  if (meta === undefined) return ''
  if (!meta.startsWith('{')) throw new OperationError('resource-invalid', 'The member meta must be an object.')
  return [...distinct(jsonMembers(meta))]
    .filter(([name]) => !STAMPED.has(name))
    .map(([name, value]) => `${JSON.stringify(name)}:${value}`)
    .join(',')
}

function parsed(text: string): JsonObject {
  const value = jsonIn(text)
  if (!isObject(value)) throw new OperationError('resource-invalid', 'A resource must be a JSON object.')
  return value
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new OperationError('body-invalid', 'The resource is not JSON.', { cause })
  }
}

function distinct(members: readonly JsonMember[]): ReadonlyMap<string, string> {
  const found = new Map(members.map(({ name, value }) => [name, value]))
  if (found.size < members.length) throw new OperationError('resource-invalid', 'The resource has a member twice.')
  return found
}
