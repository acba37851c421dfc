import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject } from '../../../json/index.js'
import type { Run } from '../../walk/run.js'
import { readNarrative } from './narrative-problems.js'

/** Every id in a resource that a link can mean, gathered once. */
export function anchorsOf(run: Run, { value }: FhirNode): ReadonlySet<string> {
  if (!isObject(value)) return new Set()
  const ids = run.targets.anchors.get(value) ?? elementIds(value)
  run.targets.anchors.set(value, ids)
  return ids
}

/** Every id in a JSON value, also those of contained resources and of anchors in narratives. */
function elementIds(value: unknown): ReadonlySet<string> {
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
