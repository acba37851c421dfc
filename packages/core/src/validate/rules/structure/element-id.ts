import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, stringAt } from '../../../json/index.js'
import type { Run } from '../../run/run.js'

/** Checks that the id of an element has no white space, and that no other element of the resource has it. */
export function checkElementId(run: Run, node: FhirNode): void {
  const members = node.extra ?? node.value
  const id = isObject(members) && node.type.kind !== 'resource' ? stringAt(members, 'id') : undefined
  if (id === undefined || id === '') return
  if (/\s/.test(id)) run.findings.report('id-form', node, { text: `The id of an element has no white space: ${quoted(id)}.`, at: 'id' })
  const ids = idsAround(run, node)
  if (ids.has(id)) run.findings.report('element-id', node, { text: `There is already an element with the id ${quoted(id)}.` })
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
