import { readNarrative } from './narrative-problems.js'

/** Every id in a JSON value, also those of contained resources and of anchors in narratives. */
export function elementIds(value: unknown): ReadonlySet<string> {
  const ids = new Set<string>()
  collect(value, ids)
  return ids
}

function collect(value: unknown, ids: Set<string>): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value)) {
    if (typeof member !== 'string') collect(member, ids)
    else if (key === 'id') ids.add(member)
    else if (key === 'div') for (const id of readNarrative(member).ids) ids.add(id)
  }
}
