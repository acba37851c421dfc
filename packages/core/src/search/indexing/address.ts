import { isResourceId, isResourceType, containedType } from '../../storage/index.js'
import { objectsAt, stringAt, type JsonObject } from '../../json/index.js'

/** Type and id of a resource in storage. */
export interface StoredAddress {
  readonly type: string
  readonly id: string
}

/** Returns the target of a reference on this server: `Type/id`, perhaps with a version, or absolute with the base. `undefined` for any other. */
export function localReference(reference: string, base: string | undefined): StoredAddress | undefined {
  const relative = base !== undefined && reference.startsWith(`${base}/`) ? reference.slice(base.length + 1) : reference
  const [type = '', id = '', ...version] = relative.split('/')
  const isVersion = version.length === 0 || (version.length === 2 && version[0] === '_history')
  return isVersion && isResourceType(type) && isResourceId(id) ? { type, id } : undefined
}

/** A resource with its contained resources. */
export interface Container {
  /** The contained resources that a fragment (`#m`) can name, each once. */
  readonly members: readonly ContainedMember[]
  /** Returns the target of a fragment; `#` alone is the container. */
  readonly addressOf: (fragment: string) => StoredAddress | undefined
  /** Returns the FHIR type of the target of a fragment. */
  readonly typeOf: (fragment: string) => string | undefined
}

/** A contained resource. */
export interface ContainedMember extends StoredAddress {
  readonly resource: JsonObject
}

/** Finds the contained resources of a resource. @see https://hl7.org/fhir/R4/references.html#contained */
export function containerOf(resource: JsonObject): Container {
  const type = typeIn(resource)
  const id = stringAt(resource, 'id') ?? ''
  const byFragment = new Map<string, ContainedMember>([['#', { type, id, resource }]])
  for (const member of objectsAt(resource, 'contained')) {
    const fragment = `#${stringAt(member, 'id') ?? ''}`
    if (!isResourceType(typeIn(member)) || !isResourceId(fragment.slice(1)) || byFragment.has(fragment)) continue
    byFragment.set(fragment, { type: containedType(typeIn(member)), id: `${type}/${id}${fragment}`, resource: member })
  }
  return {
    members: [...byFragment.values()].slice(1),
    addressOf: (fragment) => byFragment.get(fragment),
    typeOf: (fragment) => stringAt(byFragment.get(fragment)?.resource, 'resourceType'),
  }
}

function typeIn(resource: JsonObject): string {
  return stringAt(resource, 'resourceType') ?? ''
}
