import { isObject } from './narrow.js'

/** A deep copy of a JSON value, for callers that may change it. */
export function ownCopy<T>(value: T): T
export function ownCopy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => ownCopy(item))
  if (!isObject(value)) return value
  const members = Object.entries(value)
  // Most are codings, of which an expansion has tens of thousands; spreading takes a third of the time.
  if (members.every(([, member]) => typeof member !== 'object')) return { ...value }
  return Object.fromEntries(members.map(([name, member]) => [name, ownCopy(member)]))
}

/** Freezes a parsed JSON value that several callers share: a change by one of them throws instead of reaching the others. */
export function frozenJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const member of Object.values(value)) frozenJson(member)
  return Object.freeze(value)
}
