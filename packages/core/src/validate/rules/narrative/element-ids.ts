import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject } from '../../../json/index.js'
import { finished, type Work } from '../../../work/index.js'
import type { Run } from '../../walk/run.js'
import { narrativeWork } from './narrative-problems.js'

/** Every id in a resource that a link can mean, with the number of places that have it, gathered once. */
export function anchorsOf(run: Run, resource: FhirNode): ReadonlyMap<string, number> {
  return finished(anchorsWork(run, resource))
}

/** The same, while other work runs in between. */
export function* anchorsWork(run: Run, { value }: FhirNode): Work<ReadonlyMap<string, number>> {
  if (!isObject(value)) return new Map()
  const known = run.targets.anchors.get(value)
  if (known !== undefined) return known
  const ids = new Map<string, number>()
  yield* collect(value, ids)
  run.targets.anchors.set(value, ids)
  return ids
}

/** Every id in a JSON value, also those of contained resources and of anchors in narratives. */
function* collect(value: object, ids: Map<string, number>): Work<void> {
  yield
  for (const [key, member] of Object.entries(value)) {
    if (typeof member === 'object' && member !== null) yield* collect(member, ids)
    else if (typeof member !== 'string') continue
    else if (key === 'id') count(ids, member)
    else if (key === 'div') for (const id of (yield* narrativeWork(member)).ids) count(ids, id)
  }
}

function count(ids: Map<string, number>, id: string): void {
  ids.set(id, (ids.get(id) ?? 0) + 1)
}
