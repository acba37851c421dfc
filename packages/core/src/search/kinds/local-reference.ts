import { isResourceId, isResourceType } from '../../storage/index.js'

/** A reference on this server. */
export interface LocalReference {
  readonly type: string
  readonly id: string
}

/** Reads `Type/id`, also with a version behind it, or absolute on the base. `undefined` for every other reference. */
export function localReference(reference: string, base: string | undefined): LocalReference | undefined {
  const relative = base !== undefined && reference.startsWith(`${base}/`) ? reference.slice(base.length + 1) : reference
  const [type = '', id = '', ...version] = relative.split('/')
  const isVersion = version.length === 0 || (version.length === 2 && version[0] === '_history')
  return isVersion && isResourceType(type) && isResourceId(id) ? { type, id } : undefined
}
