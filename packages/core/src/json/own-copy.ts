import { isObject } from './narrow.js'

/** A deep copy of a JSON value, for callers that may change it. */
export function ownCopy<T>(value: T): T
export function ownCopy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => ownCopy(item))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, ownCopy(member)]))
}
