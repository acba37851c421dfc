import type { JsonObject } from '../json/index.js'
import { definitionKeys } from './definition-keys.js'
import { definitionOf } from './definition.js'
import type { ContentLayer, Definition } from './layer.js'

/** Definitions that came with one request (`tx-resource`, inline resources). They have no key, so nothing of them is cached beyond it. */
export function requestLayer(resources: readonly JsonObject[]): ContentLayer {
  const found = new Map<string, Definition[]>()
  const brought = new Map<string, Set<string>>()
  const bring = (type: string, url: string): void => void brought.set(type, (brought.get(type) ?? new Set()).add(url))
  for (const resource of resources) {
    const definition = definitionOf(resource)
    if (definition === undefined) continue
    for (const [key, value] of definitionKeys(resource)) {
      const place = `${definition.type} ${key} ${value}`
      found.set(place, [...(found.get(place) ?? []), definition])
      // A code system can be found as the value set of all its codes.
      if (key === 'value-set') bring('ValueSet', value)
    }
    bring(definition.type, definition.url)
  }
  return { find: (type, by, value) => Promise.resolve(found.get(`${type} ${by} ${value}`) ?? []), brought }
}
