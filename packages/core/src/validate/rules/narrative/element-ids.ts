import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject } from '../../../json/index.js'
import type { Run } from '../../walk/run.js'
import { readNarrative } from './narrative-problems.js'

/** Every id in a resource that a link can mean, with the number of places that have it, gathered once. */
export function anchorsOf(run: Run, { value }: FhirNode): ReadonlyMap<string, number> {
  if (!isObject(value)) return new Map()
  const known = run.targets.anchors.get(value)
  if (known !== undefined) return known
  const ids = new Map<string, number>()
  collect(value, ids)
  run.targets.anchors.set(value, ids)
  return ids
}

/** Every id in a JSON value, also those of contained resources and of anchors in narratives. */
function collect(value: unknown, ids: Map<string, number>): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value)) {
    if (typeof member !== 'string') collect(member, ids)
    else if (key === 'id') count(ids, member)
    else if (key === 'div') for (const id of readNarrative(member).ids) count(ids, id)
  }
}

function count(ids: Map<string, number>, id: string): void {
  ids.set(id, (ids.get(id) ?? 0) + 1)
}
