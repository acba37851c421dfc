import type { TypeDefinition } from '../../../../fhirpath/index.js'
import type { Run } from '../../../walk/run.js'
import type { ElementCheck } from './check-elements.js'
import { placeOf } from './element-place.js'

/**
 * The elements of a profile's differential that the base does not have where they stand: unknown paths, and elements before others that
 * come earlier in the base. What the types of the release do not know at all, such as a logical model, is not judged.
 */
export function misplacedElements(run: Run, elements: readonly ElementCheck[]): readonly ElementCheck[] {
  const known = elements.filter(({ path }) => run.model.type(path.split('.', 1)[0] ?? '') !== undefined)
  return known.filter((element, index) => element.place === undefined || isBeforeEarlier(run, known, index))
}

/** True when a later sibling, in the same occurrence of their parent, comes first in the base. */
function isBeforeEarlier(run: Run, elements: readonly ElementCheck[], index: number): boolean {
  const path = elements[index]?.path ?? ''
  const end = path.lastIndexOf('.')
  const [type] = (end < 0 ? undefined : placeOf(run.model, path.slice(0, end)))?.types ?? []
  if (type === undefined) return false
  const own = positionIn(type, path.slice(end + 1))
  return laterSiblings(run, elements, index).some((step) => positionIn(type, step) < own)
}

/** The last parts of the paths that follow in the same occurrence of the parent. */
function laterSiblings(run: Run, elements: readonly ElementCheck[], index: number): readonly string[] {
  const path = elements[index]?.path ?? ''
  const parent = path.slice(0, path.lastIndexOf('.') + 1)
  const steps: string[] = []
  for (let next = index + 1; elements[next]?.path.startsWith(parent) === true; next++) {
    run.step()
    const step = elements[next]?.path.slice(parent.length) ?? ''
    if (!step.includes('.')) steps.push(step)
  }
  return steps
}

/** Unknown names come last, as nothing can be said of their order. */
function positionIn(type: TypeDefinition, step: string): number {
  const bare = step.endsWith('[x]') ? step.slice(0, -3) : step
  const name = type.elements.has(bare) ? bare : (type.members.get(bare)?.name ?? '')
  const position = [...type.elements.keys()].indexOf(name)
  return position < 0 ? Number.POSITIVE_INFINITY : position
}
