import type { Run } from '../../../walk/run.js'
import type { ElementCheck } from './check-elements.js'
import { placeOf } from './element-place.js'

/**
 * The elements of a profile's differential that the base does not have where they stand: unknown paths, and elements before others that
 * come earlier in the base. What the types of the release do not know at all, such as a logical model, is not judged.
 */
export function misplacedElements(run: Run, elements: readonly ElementCheck[]): readonly ElementCheck[] {
  const misplaced: ElementCheck[] = []
  /** By path of a parent that is still open, seen from the end: the first place in the base of what follows in it. */
  const first = new Map<string, number>()
  for (const element of elements.toReversed()) {
    run.step()
    const { path, place } = element
    for (const parent of first.keys()) if (!path.startsWith(`${parent}.`)) first.delete(parent)
    if (run.model.type(path.split('.', 1)[0] ?? '') === undefined) continue
    const parent = path.slice(0, Math.max(0, path.lastIndexOf('.')))
    const position = positionIn(run, parent, path.slice(parent.length + 1))
    const following = first.get(parent) ?? Number.POSITIVE_INFINITY
    if (place === undefined || following < position) misplaced.push(element)
    first.set(parent, Math.min(position, following))
  }
  return misplaced.toReversed()
}

/** Where the base has an element within its parent. Unknown names come last, as nothing can be said of their order. */
function positionIn({ model }: Run, parent: string, step: string): number {
  const [type] = (parent === '' ? undefined : placeOf(model, parent))?.types ?? []
  if (type === undefined) return Number.POSITIVE_INFINITY
  const bare = step.endsWith('[x]') ? step.slice(0, -3) : step
  const name = type.elements.has(bare) ? bare : (type.members.get(bare)?.name ?? '')
  const position = [...type.elements.keys()].indexOf(name)
  return position < 0 ? Number.POSITIVE_INFINITY : position
}
