import { stringAt, type JsonObject } from '../json/index.js'
import type { Definition } from './layer.js'

/** The definition that a resource is; `undefined` when it has no url. */
export function definitionOf(resource: JsonObject, key?: string): Definition | undefined {
  const url = stringAt(resource, 'url')
  const type = stringAt(resource, 'resourceType')
  if (url === undefined || type === undefined) return undefined
  const version = stringAt(resource, 'version')
  return {
    type,
    url,
    status: stringAt(resource, 'status') ?? 'unknown',
    resource,
    ...(version !== undefined && { version }),
    ...(key !== undefined && { key }),
  }
}
