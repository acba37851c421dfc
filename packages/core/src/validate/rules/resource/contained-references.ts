import { readNarrative } from '../narrative/narrative-problems.js'

/** The ids that `#id` texts anywhere in a value point to; `''` for `#` alone. */
export function containedReferences(value: unknown): ReadonlySet<string> {
  const ids = new Set<string>()
  collect(value, ids)
  return ids
}

function collect(value: unknown, ids: Set<string>): void {
  if (typeof value === 'string') {
    if (value.startsWith('#')) ids.add(value.slice(1))
    if (value.startsWith('<div') && value.includes('#')) collectLinks(value, ids)
    return
  }
  if (typeof value !== 'object' || value === null) return
  for (const member of Object.values(value)) collect(member, ids)
}

function collectLinks(xhtml: string, ids: Set<string>): void {
  const { fragments, sources } = readNarrative(xhtml)
  for (const id of [...fragments, ...sources]) ids.add(id)
}
