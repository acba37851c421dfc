import { PENDING } from '../../../fhirpath/index.js'
import { objectAt, objectsAt, stringAt } from '../../../json/index.js'
import { textOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'
import { placeOf } from '../../profile/element-at-path.js'
import type { ElementCheck } from './element-place.js'

/**
 * Where the elements of a differential are in the snapshot that they give: at the place of the base's element, behind what earlier ones added. Slices add
 * themselves, and elements inside a data type all that the type has. Empty when the base has no snapshot.
 *
 * @param isSliced Whether the element of an id is sliced before.
 */
export function snapshotIndexes(
  run: Run,
  { base, elements }: { readonly base: string; readonly elements: readonly ElementCheck[] },
  isSliced: (id: string, path: string) => boolean,
): ReadonlyMap<ElementCheck, number> {
  const found = run.definitions.definition('StructureDefinition', base)
  const paths =
    found === undefined || found === PENDING ? [] : objectsAt(objectAt(found, 'snapshot'), 'element').map((one) => stringAt(one, 'path'))
  const places = new Map(paths.toReversed().map((path, index) => [path, paths.length - 1 - index]))
  const indexes = new Map<ElementCheck, number>()
  const open = new Set<string>()
  let added = 0
  for (const element of elements) {
    const { node, path } = element
    const place = places.get(path)
    const id = textOf(node, 'id') ?? path
    if (textOf(node, 'sliceName') !== undefined) {
      if (open.has(path) || isSliced(id, path)) added++
      open.add(path)
    } else if (place === undefined) {
      const parent = id.slice(0, Math.max(0, id.lastIndexOf('.')))
      if (!open.has(parent)) added += placeOf(run.model, path.slice(0, Math.max(0, path.lastIndexOf('.'))))?.types[0]?.elements.size ?? 0
      open.add(parent)
    }
    if (place !== undefined) indexes.set(element, place + added)
  }
  return indexes
}
