import { satisfies, type Condition, type PutEntry } from '../storage/index.js'

/** A resource, stored or about to be, with its index entries. */
export interface FoundBy extends Pick<PutEntry, 'id' | 'entries'> {
  /** When it was or will be written, in milliseconds. */
  readonly updated: number
}

/**
 * Whether one resource meets a condition, as `memoryStorage` would find it, without a storage. Conditions on other resources (`refersTo`,
 * `referredBy`) are never met, because there are no others.
 */
export function meetsCondition(resource: FoundBy, condition: Condition): boolean {
  switch (condition.kind) {
    case 'entry':
      return resource.entries.some((entry) => entry.param === condition.param && satisfies(entry, condition.all))
    case 'and':
      return condition.conditions.every((each) => meetsCondition(resource, each))
    case 'or':
      return condition.conditions.some((each) => meetsCondition(resource, each))
    case 'not':
      return !meetsCondition(resource, condition.condition)
    case 'id':
      return condition.ids.includes(resource.id)
    case 'lastUpdated':
      return resource.updated >= (condition.from ?? -Infinity) && resource.updated <= (condition.to ?? Infinity)
    default:
      return false
  }
}
