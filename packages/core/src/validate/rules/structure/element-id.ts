import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, stringAt } from '../../../json/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import type { Run, NodeRule } from '../../run/run.js'
import { ID_FORM } from '../primitive/text.js'

const ELEMENT_ID: FindingDefinition = defineFinding(
  'element-id',
  'error',
  'business-rule',
  'Give each element a unique id, or leave the id out.',
)

/** Ids of elements. */
export const elementIdRule: NodeRule = {
  on: ['Element'],
  finds: [ELEMENT_ID, ID_FORM],
  needs: 'id',
  check: checkElementId,
}

/** Checks that the id of an element has no white space, and that no other element of the resource has it. */
function checkElementId(run: Run, node: FhirNode): void {
  const members = node.extra ?? node.value
  const id = isObject(members) && node.type.kind !== 'resource' ? stringAt(members, 'id') : undefined
  if (id === undefined || id === '') return
  if (/\s/.test(id))
    run.findings.report(ID_FORM, node, { text: `The id of an element must not contain white space: ${quoted(id)}.`, at: 'id' })
  const ids = idsAround(run, node)
  if (ids.has(id)) run.findings.report(ELEMENT_ID, node, { text: `Duplicate id value ${quoted(id)}.` })
  ids.add(id)
}

/** The ids seen so far around a node. A snapshot has ids of its own, because the differential has the same. */
function idsAround({ seen }: Run, node: FhirNode): Set<string> {
  let scope = node
  while (scope.parent !== undefined && scope.type.kind !== 'resource' && scope.slot?.name !== 'snapshot') scope = scope.parent
  if (!isObject(scope.value)) return new Set()
  const ids = (seen.ids ??= new Map<object, Set<string>>())
  const known = ids.get(scope.value) ?? new Set<string>()
  ids.set(scope.value, known)
  return known
}
