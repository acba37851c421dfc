import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, stringAt } from '../../../json/index.js'
import type { Run } from '../../walk/run.js'

/** Checks that no other element of the resource has the id of this one. */
export function checkElementId(run: Run, node: FhirNode): void {
  const members = node.extra ?? node.value
  const id = isObject(members) && node.type.kind !== 'resource' ? stringAt(members, 'id') : undefined
  if (id === undefined || id === '') return
  const ids = idsAround(run, node)
  if (ids.has(id)) run.sink.report('element-id', node, { text: `There is already an element with the id ${quoted(id)}.` })
  ids.add(id)
}

/** Snapshot and differential of a StructureDefinition have the same ids. */
function idsAround({ targets }: Run, node: FhirNode): Set<string> {
  let scope = node
  while (scope.parent !== undefined && scope.type.kind !== 'resource' && scope.slot?.name !== 'snapshot') scope = scope.parent
  if (!isObject(scope.value)) return new Set()
  const known = targets.ids.get(scope.value) ?? new Set<string>()
  targets.ids.set(scope.value, known)
  return known
}
